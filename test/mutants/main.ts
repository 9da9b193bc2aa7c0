/**
 * `npm run test:mutants [-- NAME ...]`: breaks a copy of our own code, one promise at a time, and checks that
 * the test that the patch names fails. A mutant that survives, or whose test does not pass without it, is a
 * failure. Without a mutant it executes only tests that `npm test` has not passed since the last change.
 */
import { cpSync, existsSync, mkdirSync, statSync, symlinkSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { output, ROOT } from '../../scripts/run.ts';
import { runCommand } from '../support/process/command.ts';
import { makeFolder } from '../support/process/folder.ts';
import { prepareForTests } from '../support/prepare.ts';
import { createProgress } from '../support/process/progress.ts';
import { readMutants, type Mutant } from './mutant.ts';
import { passedSince, readReport, verdictOn, type Verdict } from './report.ts';
import { createTester, type Tester } from './tester.ts';

const progress = createProgress(process.stderr);
/** Many times as long as the tests take: only a mutant that keeps its test from ending reaches it. */
const LIMIT_MS = 600_000;
/**
 * How many mutants are tested at the same time, each in its copy of the tree. Four more than there are cores:
 * many tests fail by waiting for something that a mutant prevents, which takes no processor time.
 */
const TREES = availableParallelism() + 4;

/** A copy of the tree, and the tester that executes its tests. */
type Copy = { tree: string; tester: Tester };

/** The files that Git tracks or does not ignore. */
async function listFiles(): Promise<string[]> {
  const listed = await output('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard']);
  return listed.split('\0').filter((name) => name !== '');
}

/** The files as they are now, with the packages of this folder. */
function copyTree(files: readonly string[], to: string): void {
  for (const path of files) {
    mkdirSync(dirname(join(to, path)), { recursive: true });
    cpSync(join(ROOT, path), join(to, path));
  }
  symlinkSync(join(ROOT, 'node_modules'), join(to, 'node_modules'));
}

/** The mutants whose tests have not passed in `npm test` since the last change. */
function withoutPassedTest(mutants: readonly Mutant[], files: readonly string[]): Mutant[] {
  const changedAt = Math.max(...files.map((path) => statSync(join(ROOT, path)).mtimeMs));
  const reports = ['unit', 'integration'].map((project) =>
    readReport(join(ROOT, '.windlass/reports', `${project}.json`)),
  );
  return mutants.filter((mutant) => !passedSince(changedAt, mutant, reports));
}

const COMPILED = process.env['NODE_COMPILE_CACHE'];

/** Copies Node's compile cache, so that entries for the files of the trees are removed with the trees. */
function copyCompiled(folder: string): void {
  if (COMPILED === undefined || !existsSync(COMPILED)) return;
  process.env['NODE_COMPILE_CACHE'] = join(folder, 'compiled');
  cpSync(COMPILED, join(folder, 'compiled'), { recursive: true });
}

/** Executes the tests of the mutants: one verdict for each, in their order. */
async function executeTests(tester: Tester, mutants: Mutant[]): Promise<Verdict[]> {
  const named = Object.entries(Object.groupBy(mutants, ({ file }) => file));
  const selection = named.map(([file, tests = []]) => ({
    file,
    names: tests.map(({ test }) => RegExp.escape(test)).join('|'),
  }));
  const found = await tester.execute(selection);
  return mutants.map(({ test }) => verdictOn(test, found));
}

/** Short ones come last, so that all trees finish at about the same time. */
const isShort = ({ file }: Mutant) => !file.startsWith('test/integration/');

/**
 * Executes the test of a mutant. Returns what is wrong; undefined if the test fails, as it should. A test
 * that was not executed, because a server did not start in time under load, gets a second attempt.
 */
async function checkMutant({ tree, tester }: Copy, mutant: Mutant): Promise<string | undefined> {
  const { name, patch, test } = mutant;
  await runCommand('git', ['apply', patch], { cwd: tree });
  try {
    let [verdict] = await executeTests(tester, [mutant]);
    if (verdict === 'not executed') [verdict] = await executeTests(tester, [mutant]);
    if (verdict === 'passed') return `${name} survives: "${test}" passes`;
    if (verdict !== 'failed') return `${name}: "${test}" was not executed`;
    return undefined;
  } finally {
    await runCommand('git', ['apply', '--reverse', patch], { cwd: tree });
  }
}

/** Executes the tests of these mutants in a copy without any mutant. Returns what is wrong. */
async function checkWithoutMutants({ tester }: Copy, mutants: Mutant[]): Promise<string[]> {
  if (mutants.length === 0) return [];
  const title = `the tests of ${mutants.length} mutants without any mutant`;
  const found = await progress.step(title, () => executeTests(tester, mutants));
  return mutants.flatMap(({ name, test }, index) =>
    found[index] === 'passed' ? [] : [`${name}: without it "${test}" is ${found[index]}`],
  );
}

/** Tests the mutants in all copies at the same time. Returns what is wrong. */
async function checkMutants(copies: readonly Copy[], mutants: readonly Mutant[]): Promise<string[]> {
  const wrong: string[] = [];
  const remaining = mutants.toSorted((one, other) => Number(isShort(one)) - Number(isShort(other)));
  const checkNext = async (copy: Copy): Promise<void> => {
    for (let mutant = remaining.shift(); mutant !== undefined; mutant = remaining.shift()) {
      const { name, breaks } = mutant;
      const why = await progress.step(`${name}: ${breaks}`, () => checkMutant(copy, mutant));
      if (why !== undefined) wrong.push(why);
    }
  };
  await Promise.all(copies.map(checkNext));
  return wrong;
}

/** The mutants with these names, or all. Undefined if a name is unknown, which it prints. */
function chosenMutants(names: readonly string[]): Mutant[] | undefined {
  const all = readMutants(import.meta.dirname);
  const unknown = names.filter((name) => !all.some((mutant) => mutant.name === name));
  if (unknown.length > 0) {
    console.error(`No mutant is named ${unknown.join(', ')}: ${all.map(({ name }) => name).join(', ')}`);
    return undefined;
  }
  return names.length === 0 ? all : all.filter(({ name }) => names.includes(name));
}

async function main(names: readonly string[]): Promise<number> {
  const mutants = chosenMutants(names);
  if (mutants === undefined) return 2;
  await prepareForTests('integration');
  const { path: folder, remove } = await makeFolder('mutants');
  const first = createCopy(folder, 0);
  const copies = [first, ...Array.from({ length: TREES - 1 }, (_, index) => createCopy(folder, index + 1))];
  try {
    const files = await listFiles();
    for (const { tree } of copies) copyTree(files, tree);
    copyCompiled(folder);
    const wrong = [
      ...(await checkWithoutMutants(first, withoutPassedTest(mutants, files))),
      ...(await checkMutants(copies, mutants)),
    ];
    for (const line of wrong) console.error(`✗ ${line}`);
    console.log(`mutants: ${mutants.length - wrong.length} of ${mutants.length} killed`);
    return wrong.length === 0 ? 0 : 1;
  } finally {
    for (const { tester } of copies) tester.end();
    remove();
  }
}

function createCopy(folder: string, index: number): Copy {
  const tree = join(folder, `${index}`);
  return { tree, tester: createTester(tree, LIMIT_MS) };
}

process.exitCode = await main(process.argv.slice(2));
