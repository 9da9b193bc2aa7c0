/** Code that the sandbox compiles, in a thread. */
import { expect, test } from 'vitest';
import type { WorkflowNode } from '../../../api/workflow.ts';
import { spec, webhook } from '../../../test/support/operator/workflowSpecs.ts';
import { validate } from '../validate.ts';
import { compileSources } from './code.ts';

const code = (source: string): WorkflowNode => ({ id: 'code', code: { source } });

test.each<[string, string]>([
  ['a function body', 'const { items } = nodes.trigger.data_content; return items.length;'],
  ['await', 'return await Promise.all([1, 2]);'],
  ['a comment at its end', 'return 1; // done'],
  ['names of nodes in texts and comments', "// nodes.gone is renamed\nreturn 'nodes.gone';"],
])('code with %s is valid', async (_what, source) => {
  expect(validate(spec([webhook, code(source)]))).toEqual([]);
  expect(await compileSources(spec([webhook, code(source)]))).toEqual([]);
});

test.each<[string, string, string]>([
  ['invalid syntax', 'const a = 1;\nconst b = ;', 'line 2, column 11: unexpected token in expression'],
  [
    'a } that ends its function',
    'return 1; } , async function () {',
    'line 1, column 13: a } ends the function',
  ],
  [
    'a } between functions',
    'return 1; }\n[x] = async function () { return 2;',
    'ends the function of the code early',
  ],
  ['an open text', 'return `a', 'unexpected end'],
  ['an import', 'import fs from "node:fs";', 'line 1'],
])('code with %s is invalid', async (_what, source, says) => {
  const compiled = await compileSources(spec([webhook, code(source)]));
  expect(compiled).toMatchObject([
    { reason: 'InvalidCode', message: expect.stringContaining(`node code: code.source: line`) },
  ]);
  expect(compiled[0]?.message).toContain(says);
  expect(validate(spec([webhook, code(source)]), { compiled })).toEqual(compiled);
});

test('code that compiles for seconds is invalid, and delays nothing else', async () => {
  const source = `return /[${String.raw`\p{L}`.repeat(12_500)}]/iu;`;
  let ticks = 0;
  const timer = setInterval(() => (ticks += 1), 10);
  const [first, ...rest] = await compileSources(spec([webhook, code(source), code(source)]));
  clearInterval(timer);
  expect(first?.message).toMatch(/the code takes more than 2 s to compile: shorten or simplify it$/);
  expect(rest).toEqual([]);
  expect(ticks).toBeGreaterThan(20);
});
