/**
 * `npm test`: prepares what the tests need, runs unit, integration and end-to-end tests in this order, and
 * ends with each failure and one line of totals, from the reports of vitest. With a part of a path it runs
 * the projects that have such a file. A skipped test counts as a failure. What failed in a few files is
 * executed once more, alone: a test that passes then depends on time or load, and is listed as flaky.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { bin, ROOT, run } from './run.ts';
import { PROJECTS, projectsOf, type Project } from './testProjects.ts';
import { brokenOff, totals, type Totals } from './testReports.ts';

const HELP = `npm test [-- FILTER]                       all tests
npm run test:unit [-- FILTER]              pure code, no set-up, under 15 s
npm run test:integration [-- FILTER]       with an own etcd, kube-apiserver and Redis on free ports
npm run test:e2e [-- FILTER]               on a cluster of its own, which is removed at the end

FILTER is a part of a test file's path, and npm test runs only the kinds of tests that have such a file; -t NAME takes only the tests with that in their names. Environment:
  WINDLASS_KEEP=1        leave the end-to-end cluster running, for the next run and for looking around
  WINDLASS_CLUSTER=…     builtin, kind or current: see docs/cluster.md`;

/**
 * Where more files fail, something is broken, and executing them again takes only time. On a busy machine
 * what makes one test late makes others late, too.
 */
const FILES_REPEATED = { unit: 0, integration: 6, e2e: 6 };

const reports = join(ROOT, '.windlass', 'reports');

/** Brings the programs that the tests of a project start: nothing for unit tests. */
async function prepare(project: Project): Promise<void> {
  if (project === 'unit') return;
  const { prepareForTests } = await import('../test/support/prepare.ts');
  await prepareForTests(project);
}

async function runProject(project: Project, filters: string[]): Promise<Totals> {
  try {
    await prepare(project);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return brokenOff(`the ${project} tests cannot be prepared: ${why}`);
  }
  return runTests(project, filters, project);
}

async function runTests(project: Project, filters: string[], name: string): Promise<Totals> {
  const file = join(reports, `${name}.json`);
  rmSync(file, { force: true });
  const code = await run(process.execPath, [
    bin('vitest'),
    'run',
    '--project',
    // The end-to-end tests are two projects of vitest.
    `${project}*`,
    '--reporter=default',
    '--reporter=json',
    // Without those tests it says nothing.
    `--reporter=${join(ROOT, 'scripts', 'exclusiveReporter.ts')}`,
    `--outputFile.json=${file}`,
    '--passWithNoTests',
    ...filters,
  ]);
  return totals(file, code);
}

/**
 * Executes what failed once more, and prints which tests failed only the first time: the tests alone, and
 * where they need others of their files, the files. End-to-end tests often do.
 */
async function repeatFailed(project: Project, filters: string[], first: Totals): Promise<Totals> {
  const { files, tests } = first;
  const isFew = files.length > 0 && files.length <= FILES_REPEATED[project];
  if (!isFew || isPart(filters)) return first;
  const alone = ['-t', tests.map((test) => RegExp.escape(test)).join('|')];
  for (const chosen of project === 'integration' && tests.length > 0 ? [alone, []] : [[]]) {
    console.error(`executing again what failed: ${files.join(', ')}`);
    const again = await runTests(project, [...files, ...chosen], `${project}-again`);
    const isComplete = chosen.length > 0 ? again.passed >= tests.length : again.skipped === 0;
    if (again.failed > 0 || !isComplete) continue;
    for (const failure of first.failures) console.error(`! flaky, passed when executed again: ${failure}`);
    return { ...again, passed: first.passed + first.failed + first.skipped, skipped: 0 };
  }
  return first;
}

/** Where everything is that a failure says in short. */
function logsOf(project: Project): string {
  const report = `every message and stack: .windlass/reports/${project}.json`;
  return project === 'e2e' ? `${report}; the cluster and its programs: .windlass/e2e.log` : report;
}

/** What `-t` leaves out was not asked for. */
const isPart = (filters: string[]) => filters.some((filter) => /^(-t|--testNamePattern)(=|$)/.test(filter));

async function main(args: string[]): Promise<number> {
  const chosen = PROJECTS.filter((project) => project === args[0]);
  const filters = chosen.length > 0 ? args.slice(1) : args;
  const sum = { passed: 0, failed: 0, skipped: 0, failures: [] as string[] };
  mkdirSync(reports, { recursive: true });
  for (const project of chosen.length > 0 ? chosen : projectsOf(filters)) {
    const began = performance.now();
    const result = await repeatFailed(project, filters, await runProject(project, filters));
    console.log(`${project}: ${Math.round((performance.now() - began) / 1_000)} s`);
    sum.passed += result.passed;
    const skipped = isPart(filters) ? 0 : result.skipped;
    sum.failed += result.failed + skipped;
    sum.skipped += skipped;
    sum.failures.push(...result.failures);
    if (result.failed > 0) console.error(`› ${logsOf(project)}`);
  }
  for (const failure of sum.failures) console.error(`✗ ${failure}`);
  if (sum.skipped > 0) console.error(`✗ ${sum.skipped} tests were skipped, which counts as failed`);
  if (sum.passed === 0) console.error('✗ no test was executed');
  console.log(`tests: ${sum.passed} passed, ${sum.failed} failed`);
  return sum.failed === 0 && sum.passed > 0 ? 0 : 1;
}

const args = process.argv.slice(2);
if (args.includes('--help')) console.log(HELP);
else process.exitCode = await main(args);
