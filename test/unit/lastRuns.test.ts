/** The tables that say when long suites last ran agree with what those suites wrote. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const docs = join(import.meta.dirname, '../../docs');
const read = (path: string) => readFileSync(join(docs, path), 'utf8');

/** The rows below `## Last runs`, cell by cell. */
function rowsOf(page: string): string[][] {
  const [, section = ''] = /\n## Last runs\n([\s\S]*?)(?=\n## |$)/.exec(page) ?? [];
  const rows = section.split('\n').filter((line) => line.startsWith('| '));
  return rows.slice(2).map((line) => line.split('|').map((cell) => cell.trim()));
}

test('every benchmark is listed with the commit that it was measured on', () => {
  const listed = rowsOf(read('benchmarks/README.md')).map(([, name, commit]) => `${name} ${commit}`);
  const files = readdirSync(join(docs, 'benchmarks')).filter((file) => file.endsWith('.json'));
  const measured = files.map((file) => {
    const { commit } = JSON.parse(read(`benchmarks/${file}`)) as { commit: string };
    const [hash = '', changes] = commit.split('+');
    return `\`${file.replace('.json', '')}\` ${hash.slice(0, 8)}${changes === undefined ? '' : ' with changes'}`;
  });
  expect(listed.toSorted()).toEqual(measured.toSorted());
});

test('every reliability report is listed with its date and its commit', () => {
  const listed = rowsOf(read('reliability/README.md')).map(([, , ...cells]) => cells.slice(0, 3).join(' '));
  const files = readdirSync(join(docs, 'reliability')).filter((file) => /^(?!README).*\.md$/.test(file));
  const written = files.map((file) => {
    const page = read(`reliability/${file}`);
    const [date = ''] = /20\d\d-\d\d-\d\d/.exec(page) ?? [];
    const [, commit = ''] = /commit ([0-9a-f]{7,})/.exec(page) ?? [];
    return `[${file}](${file}) ${date} ${commit.slice(0, 7)}`;
  });
  expect(listed.toSorted()).toEqual(written.toSorted());
});
