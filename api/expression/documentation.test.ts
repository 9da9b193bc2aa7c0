import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { compileCondition } from '../cel.ts';
import { compileValue, referencesOf } from './template.ts';

const page = await readFile(new URL('../../docs/expressions.md', import.meta.url), 'utf8');

const references = [...page.matchAll(/`([^`\n]*\{\{ [$'][^`\n]*)`/g)].flatMap(([, written]) => written ?? []);
const conditions = [...page.matchAll(/```yaml\n(.*?)```/gs)].flatMap(([, block = '']) =>
  whensIn(parse(block)),
);

function whensIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = 'when' in value && typeof value.when === 'string' ? [value.when] : [];
  return [...own, ...Object.values(value).flatMap(whensIn)];
}

test('the page of references and conditions has examples of both', () => {
  expect(references.length).toBeGreaterThan(10);
  expect(conditions.length).toBeGreaterThan(10);
});

test.each(references)('the documented %s can be parsed', (written) => {
  const isLiteral = written.includes("{{ '{{' }}");
  expect(referencesOf(compileValue(written))).toHaveLength(isLiteral ? 0 : 1);
});

test.each(conditions)('the documented condition %s can be compiled', (written) => {
  expect(compileCondition(written).references.length).toBeGreaterThan(0);
});
