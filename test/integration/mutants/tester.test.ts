/**
 * What executes the tests of mutants: each is judged by the code as it is then, whatever was executed before.
 */
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ROOT } from '../../../scripts/run.ts';
import { verdictOn, type Verdict } from '../../mutants/report.ts';
import { createTester, type Tester } from '../../mutants/tester.ts';
import { makeFolder } from '../../support/process/folder.ts';

const CONFIG = `
const experimental = { viteModuleRunner: false, nodeLoader: false };
const project = (name) => ({ test: { name, include: ['*.test.ts'], isolate: false, experimental } });
export default { test: { projects: [project('unit'), project('integration')] } };
`;
const TEST = `
import { expect, test } from 'vitest';
import { count } from './count.ts';
test('it counts', async () => expect(await count()).toBe(1), 60_000);
test('it counts on', () => expect(count()).toBe(3));
`;

/** A tree with one test. `write` changes what it tests. */
async function makeTree() {
  const { path, remove } = await makeFolder('tester');
  onTestFinished(remove);
  symlinkSync(join(ROOT, 'node_modules'), join(path, 'node_modules'));
  writeFileSync(join(path, 'vitest.config.ts'), CONFIG);
  writeFileSync(join(path, 'count.test.ts'), TEST);
  const write = (body: string) =>
    writeFileSync(join(path, 'count.ts'), `export const count = () => ${body};`);
  return { path, write };
}

function testerOf(path: string, limitMs: number): Tester {
  const tester = createTester(path, limitMs);
  onTestFinished(tester.end);
  return tester;
}

const judge = async ({ execute }: Tester): Promise<Verdict> =>
  verdictOn('it counts', await execute([{ file: 'count.test.ts', names: 'counts$' }]));

test('a named test is executed with the code as it is then', async () => {
  const { path, write } = await makeTree();
  const tester = testerOf(path, 60_000);
  for (const [body, verdict] of [
    ['1', 'passed'],
    ['2', 'failed'],
    ['1', 'passed'],
  ] as const) {
    write(body);
    expect(await judge(tester)).toBe(verdict);
  }
});

test('a test that does not end was not executed', async () => {
  const { path, write } = await makeTree();
  write('new Promise(() => {})');
  expect(await judge(testerOf(path, 5_000))).toBe('not executed');
});
