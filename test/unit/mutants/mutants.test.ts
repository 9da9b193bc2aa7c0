/** The patches fit the code as it is, and what they say of their tests is true. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readMutants } from '../../mutants/mutant.ts';
import { passedSince, readReport, verdictOn } from '../../mutants/report.ts';

const root = join(import.meta.dirname, '../../..');
const mutants = readMutants(join(root, 'test/mutants'));
const misfits = findMisfits(mutants.map(({ patch }) => patch));

test('there are ten mutants at least', () => {
  expect(mutants.length).toBeGreaterThanOrEqual(10);
});

test.each(mutants)('the patch $name fits', ({ patch }) => {
  expect(misfits.get(patch)).toBeUndefined();
});

/** What Git says of each patch that does not fit. Patches of different files are checked at once. */
function findMisfits(patches: readonly string[]): Map<string, string> {
  const found = new Map<string, string>();
  for (const group of groupsOf(patches)) {
    if (whyNot(group) === undefined) continue;
    for (const patch of group) {
      const why = whyNot([patch]);
      if (why !== undefined) found.set(patch, why);
    }
  }
  return found;
}

/** Groups of patches of which no two change the same file. */
function groupsOf(patches: readonly string[]): string[][] {
  const groups: { patches: string[]; files: Set<string> }[] = [];
  for (const patch of patches) {
    const files = [...readFileSync(patch, 'utf8').matchAll(/^(?:---|\+\+\+) [ab]\/(.+)$/gm)].map(
      ([, file = '']) => file,
    );
    let group = groups.find((each) => files.every((file) => !each.files.has(file)));
    if (group === undefined) groups.push((group = { patches: [], files: new Set() }));
    group.patches.push(patch);
    for (const file of files) group.files.add(file);
  }
  return groups.map((group) => group.patches);
}

function whyNot(patches: readonly string[]): string | undefined {
  const { status, stderr } = spawnSync('git', ['apply', '--check', ...patches], {
    cwd: root,
    encoding: 'utf8',
  });
  return status === 0 && stderr === '' ? undefined : `${status} ${stderr}`;
}

test.each(mutants)('the test that kills $name is there', ({ file, test: name }) => {
  const titles = [...sourceOf(file).matchAll(/'([^'\n]+)'/g)].map(([, title]) => title);
  const isThere = titles.some((title = '') => new RegExp(`^${patternOf(title)}$`).test(name));
  expect(isThere).toBe(true);
});

/** The source of a test, with the parts of it that are in the folder of its name. */
function sourceOf(file: string): string {
  const folder = join(root, file.replace('.test.ts', ''));
  const parts = existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
  return [join(root, file), ...parts].map((path) => readFileSync(path, 'utf8')).join('\n');
}

/** A title of a table has `%s` or `$field` where the row says something. */
const patternOf = (title: string): string =>
  title
    .split(/%s|\$\w+/)
    .map((part) => RegExp.escape(part))
    .join('.+');

const reportOf = (...statuses: string[]) => ({
  testResults: [{ assertionResults: statuses.map((status) => ({ title: 'it holds', status })) }],
});

test.each([
  [['passed'], 'passed'],
  [['failed'], 'failed'],
  [['passed', 'failed'], 'failed'],
  [['skipped'], 'not executed'],
  [[], 'not executed'],
])('a test that %j is %s', (statuses, verdict) => {
  expect(verdictOn('it holds', reportOf(...statuses))).toBe(verdict);
});

test('without a report no test was executed', () => {
  expect(verdictOn('it holds', readReport(join(root, 'no-such-report.json')))).toBe('not executed');
});

test.each([
  ['passed', 2, 'test/a.test.ts', true],
  ['passed', 1, 'test/a.test.ts', false],
  ['passed', 2, 'test/b.test.ts', false],
  ['failed', 2, 'test/a.test.ts', false],
])(
  'a test that %s in tests that began at %i in %s has passed since a change at 1: %s',
  (status, startTime, file, expected) => {
    const [result] = reportOf(status).testResults;
    const reports = [
      readReport(''),
      { startTime, testResults: [{ name: '/tree/test/a.test.ts', ...result! }] },
    ];
    expect(passedSince(1, { file, test: 'it holds' }, reports)).toBe(expected);
  },
);
