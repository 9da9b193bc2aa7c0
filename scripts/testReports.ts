/** Reads from a report of vitest (its JSON, which is jest's) how many tests passed, and what failed. */
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { ROOT } from './run.ts';

type Report = {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  testResults: {
    name: string;
    message: string;
    assertionResults: { title: string; status: string; fullName: string; failureMessages: string[] | null }[];
  }[];
};
/**
 * `failures`: each with its place and what it said first. `files`: those that they are in, where a report
 * names them all. `tests`: the names of what failed; none where a file failed outside of its tests.
 */
export type Totals = {
  passed: number;
  failed: number;
  skipped: number;
  failures: string[];
  files: string[];
  tests: string[];
};

const FAILURE_LENGTH = 600;

/** The totals where there is no report: one failure, which is described. */
export function brokenOff(failure: string): Totals {
  return { passed: 0, failed: 1, skipped: 0, failures: [failure], files: [], tests: [] };
}

/** What the report says. A run that crashed, or failed outside of any test, counts as one failure more. */
export function totals(file: string, code: number): Totals {
  try {
    const report = JSON.parse(readFileSync(file, 'utf8')) as Report;
    const failed = report.numFailedTests;
    const skipped = report.numPendingTests + report.numTodoTests;
    const broken = report.testResults.filter((result) => failuresOf(result).length > 0);
    const named = broken.map(failedTests);
    const areNamed = skipped === 0 && named.every((tests) => tests.length > 0);
    return {
      passed: report.numPassedTests,
      failed: failed === 0 && code !== 0 ? 1 : failed,
      skipped,
      failures: broken.flatMap(failuresOf),
      files: broken.map(({ name }) => relative(ROOT, name)),
      tests: areNamed ? named.flat().map(({ title }) => title) : [],
    };
  } catch {
    return brokenOff(`no report in ${file}`);
  }
}

type FileReport = Report['testResults'][number];

const failedTests = ({ assertionResults }: FileReport) =>
  assertionResults.filter(({ status }) => status === 'failed');

/** Also of a file that failed outside of its tests. */
function failuresOf(file: FileReport): string[] {
  const { name, message } = file;
  const texts = failedTests(file).map(
    ({ fullName, failureMessages }) => `${fullName}\n  ${failureMessages?.[0] ?? ''}`,
  );
  if (texts.length === 0 && message !== '') texts.push(message);
  return texts.map((text) => `${relative(ROOT, name)}: ${text}`.slice(0, FAILURE_LENGTH));
}
