/**
 * `npm run test:mutants [-- NAME ...]`: breaks a copy of our own code, one promise at a time, and sees that
 * the test which is named in the patch notices. A mutant that survives, or whose test does not pass without
 * it, is a failure. Tests that `npm test` has passed since the last change are not executed without a mutant
 * once more.
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
/** Many times what they take: only for a mutant that keeps its test from ending. */
const LIMIT_MS = 600_000;
/**
 * Copies of the tree, in which mutants are tested at the same time. Four more than there are cores: a mutant
 * takes a second or some of processor time, but many tests notice one by waiting for what does not come.
 */
const TREES = availableParallelism() + 4;

/** A copy of the tree, and what executes its tests. */
type Place = { tree: string; tester: Tester };

/** The files that Git knows or would take. */
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

/** Mutants whose tests no report of `npm test` shows to pass without them. */
function unproved(mutants: readonly Mutant[], files: readonly string[]): Mutant[] {
  const changedAt = Math.max(...files.map((path) => statSync(join(ROOT, path)).mtimeMs));
  const reports = ['unit', 'integration'].map((project) =>
    readReport(join(ROOT, '.windlass/reports', `${project}.json`)),
  );
  return mutants.filter((mutant) => !passedSince(changedAt, mutant, reports));
}

const COMPILED = process.env['NODE_COMPILE_CACHE'];

/** A copy of what Node compiled before: what it adds for the files of the trees is gone with them. */
function copyCompiled(folder: string): void {
  if (COMPILED === undefined || !existsSync(COMPILED)) return;
  process.env['NODE_COMPILE_CACHE'] = join(folder, 'compiled');
  cpSync(COMPILED, join(folder, 'compiled'), { recursive: true });
}

async function verdicts(tester: Tester, mutants: Mutant[]): Promise<Verdict[]> {
  if (mutants.length === 0) return [];
  const named = Object.entries(Object.groupBy(mutants, ({ file }) => file));
  const question = named.map(([file, tests = []]) => ({
    file,
    names: tests.map(({ test }) => RegExp.escape(test)).join('|'),
  }));
  const found = await tester.execute(question);
  return mutants.map(({ test }) => verdictOn(test, found));
}

/** Those come last, so that no tree waits long for the others at the end. */
const isShort = ({ file }: Mutant) => !file.startsWith('test/integration/');

/**
 * Answers with what is wrong with the mutant's test: nothing, when it notices. A test that was not executed,
 * because a server did not start in time beside everything else, gets a second attempt.
 */
async function survives({ tree, tester }: Place, mutant: Mutant): Promise<string | undefined> {
  const { name, patch, test } = mutant;
  await runCommand('git', ['apply', patch], { cwd: tree });
  try {
    let [verdict] = await verdicts(tester, [mutant]);
    if (verdict === 'not executed') [verdict] = await verdicts(tester, [mutant]);
    if (verdict === 'passed') return `${name} survives: "${test}" passes`;
    if (verdict !== 'failed') return `${name}: "${test}" was not executed`;
    return undefined;
  } finally {
    await runCommand('git', ['apply', '--reverse', patch], { cwd: tree });
  }
}

async function main(names: string[]): Promise<number> {
  const all = readMutants(import.meta.dirname);
  const unknown = names.filter((name) => !all.some((mutant) => mutant.name === name));
  if (unknown.length > 0) {
    console.error(`No mutant is named ${unknown.join(', ')}: ${all.map(({ name }) => name).join(', ')}`);
    return 2;
  }
  const mutants = names.length === 0 ? all : all.filter(({ name }) => names.includes(name));
  await prepareForTests('integration');
  const { path: folder, remove } = await makeFolder('mutants');
  const places = Array.from({ length: TREES }, (_, index): Place => {
    const tree = join(folder, `${index}`);
    return { tree, tester: createTester(tree, LIMIT_MS) };
  });
  try {
    const files = await listFiles();
    for (const { tree } of places) copyTree(files, tree);
    copyCompiled(folder);
    const wrong: string[] = [];
    const open = unproved(mutants, files);
    const count = `the tests of ${open.length} mutants without any mutant`;
    const [first] = places;
    const sound = await progress.step(count, async () => (first ? verdicts(first.tester, open) : []));
    open.forEach(({ name, test }, index) => {
      if (sound[index] !== 'passed') wrong.push(`${name}: without it "${test}" is ${sound[index]}`);
    });
    const left = mutants.toSorted((one, other) => Number(isShort(one)) - Number(isShort(other)));
    const breakAll = async (place: Place): Promise<void> => {
      for (let mutant = left.shift(); mutant !== undefined; mutant = left.shift()) {
        const { name, breaks } = mutant;
        const why = await progress.step(`${name}: ${breaks}`, () => survives(place, mutant));
        if (why !== undefined) wrong.push(why);
      }
    };
    await Promise.all(places.map(breakAll));
    for (const line of wrong) console.error(`✗ ${line}`);
    console.log(`mutants: ${mutants.length - wrong.length} of ${mutants.length} killed`);
    return wrong.length === 0 ? 0 : 1;
  } finally {
    for (const { tester } of places) tester.end();
    remove();
  }
}

process.exitCode = await main(process.argv.slice(2));
