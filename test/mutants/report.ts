/** Reads from a report of vitest (its JSON, which is jest's) what became of one test. */
import { readFileSync } from 'node:fs';

export type TestReport = {
  /** When vitest began, in milliseconds. */
  startTime?: number;
  testResults: {
    /** The path of the file. */
    name?: string;
    assertionResults: { title: string; status: string; failureMessages?: string[] }[];
  }[];
};

export type Verdict = 'passed' | 'failed' | 'not executed';

/**
 * The report in that file; one without any test where there is none, because vitest did not come to its end.
 */
export function readReport(file: string): TestReport {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as TestReport;
  } catch {
    return { testResults: [] };
  }
}

/** A test that was filtered out, or whose file could not be loaded, was not executed. */
export function verdictOn(test: string, { testResults }: TestReport): Verdict {
  const found = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ title, status }) => title === test && (status === 'passed' || status === 'failed'));
  if (found.length === 0) return 'not executed';
  return found.every(({ status }) => status === 'passed') ? 'passed' : 'failed';
}

/**
 * Whether one of the reports says that the test passed in that file, in tests that began after the last
 * change of the code, which is given in milliseconds.
 */
export function passedSince(
  changedAt: number,
  { file, test }: { file: string; test: string },
  reports: readonly TestReport[],
): boolean {
  return reports.some(({ startTime = 0, testResults }) => {
    const results = testResults.filter(({ name = '' }) => name.endsWith(`/${file}`));
    return startTime > changedAt && verdictOn(test, { testResults: results }) === 'passed';
  });
}
