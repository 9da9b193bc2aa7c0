/** `windlass lint`. */
import type { Invocation } from '../shared/command.ts';
import { CommandError, EXIT, type ExitCode } from '../shared/exit.ts';
import { readSources } from '../shared/sources.ts';
import type { Terminal } from '../shared/terminal.ts';
import { type Format, formatFindings, summary } from './formats.ts';
import { Linter, type Report } from './lint.ts';

/** Prints what is wrong in the manifests. Fails if there are errors, with `--strict` also for warnings. */
export async function execute({ values, options }: Invocation, terminal: Terminal): Promise<ExitCode> {
  const linter = new Linter();
  let files = 0;
  for await (const source of readSources(values, terminal)) {
    linter.add(source);
    terminal.progress(`${(files += 1)} files read`);
  }
  const report = await linter.finish((done, all) => terminal.progress(`${done} of ${all} workflows checked`));
  const isEmpty = report.objects === 0 && report.findings.length === 0;
  if (isEmpty && options['allowEmpty'] !== true) throw nothingToCheck(report);
  const format = options['format'] as Format;
  const text = formatFindings(format, { findings: report.findings, objects: report.objects }, terminal);
  if (text !== '') terminal.print(text);
  if (format === 'text') terminal.tell(summary(report));
  const isStrict = options['strict'] === true;
  const fails = report.findings.some(({ severity }) => isStrict || severity === 'error');
  return fails ? EXIT.failed : EXIT.ok;
}

function nothingToCheck({ namesakes }: Report): CommandError {
  const others = namesakes.length > 0 ? `, only ${namesakes.join(', ')}` : '';
  return new CommandError(
    EXIT.input,
    `these files have no manifest of Windlass${others}: name files with apiVersion: windlass.dev/v1alpha1`,
  );
}
