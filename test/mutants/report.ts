/** Reads from a report of vitest (its JSON, which is jest's) what became of one test. */
import { readFileSync } from 'node:fs';

export type TestReport = {
  testResults: { assertionResults: { title: string; status: string; failureMessages?: string[] }[] }[];
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
