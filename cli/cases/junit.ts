/** Results of cases as JUnit XML, as CI systems read it. Pure. */

export type CaseResult = {
  /** The file of the case. */
  file: string;
  workflow: string;
  name: string;
  seconds: number;
  /** What was expected and not met; empty if it passed. */
  failures: readonly string[];
  /** Why no case of the file was executed; the result then stands for the file. */
  error?: string;
};

/** The report: one suite for each file. */
export function junitReport(results: readonly CaseResult[]): string {
  const files = [...new Set(results.map(({ file }) => file))];
  const suites = files.map((file) =>
    suiteOf(
      file,
      results.filter((result) => result.file === file),
    ),
  );
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ${countsOf(results)}>\n${suites.join('')}</testsuites>\n`;
}

function countsOf(results: readonly CaseResult[]): string {
  const failed = results.filter(({ failures }) => failures.length > 0).length;
  const errors = results.filter(({ error }) => error !== undefined).length;
  const seconds = results.reduce((sum, result) => sum + result.seconds, 0);
  return `tests="${results.length}" failures="${failed}" errors="${errors}" time="${seconds.toFixed(3)}"`;
}

function suiteOf(file: string, results: readonly CaseResult[]): string {
  const cases = results.map(testcaseOf);
  return `  <testsuite name="${escapeXml(file)}" ${countsOf(results)}>\n${cases.join('')}  </testsuite>\n`;
}

function testcaseOf({ workflow, name, seconds, failures, error }: CaseResult): string {
  const attributes = `classname="${escapeXml(workflow)}" name="${escapeXml(name)}" time="${seconds.toFixed(3)}"`;
  const [element, messages] = error === undefined ? ['failure', failures] : ['error', [error]];
  const [first] = messages;
  if (first === undefined) return `    <testcase ${attributes}/>\n`;
  const content = `<${element} message="${escapeXml(first)}">${escapeXml(messages.join('\n'))}</${element}>`;
  return `    <testcase ${attributes}>${content}</testcase>\n`;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Also without the control characters that XML 1.0 cannot express. */
function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^\t\n\r\u0020-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
    .replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}
