/** `windlass changes`. */
import { isOurs } from '../schema/object.ts';
import type { Invocation } from '../shared/command.ts';
import { CommandError, EXIT, type ExitCode } from '../shared/exit.ts';
import { parseManifests } from '../shared/manifests.ts';
import { readAllSources } from '../shared/sources.ts';
import type { Terminal } from '../shared/terminal.ts';
import { compareObjects } from './compare.ts';
import { asMarkdown, asText } from './report.ts';

/** Prints what would be created, changed and deleted. Whether something would is no failure. */
export async function execute({ values, options }: Invocation, terminal: Terminal): Promise<ExitCode> {
  const [before = '', after = ''] = values;
  if (before === after) throw new CommandError(EXIT.usage, 'name two different files or folders');
  const changes = compareObjects(await objectsIn(before, terminal), await objectsIn(after, terminal));
  const format = options['format'];
  if (format === 'json') terminal.print(JSON.stringify({ changes }, null, 2));
  else if (format === 'markdown') terminal.print(asMarkdown(changes).trimEnd());
  else if (changes.length > 0) terminal.print(asText(changes));
  else terminal.tell('nothing would change');
  return EXIT.ok;
}

/** Our objects in the files. @throws CommandError for text that is no YAML */
async function objectsIn(name: string, terminal: Terminal): Promise<Record<string, unknown>[]> {
  const sources = await readAllSources([name], terminal);
  return sources.flatMap(({ file, text }) => {
    const { manifests, problems } = parseManifests(text);
    const [problem] = problems;
    if (problem)
      throw new CommandError(EXIT.input, `${file}:${problem.line}:${problem.column}: ${problem.message}`);
    return manifests.map(({ value }) => value).filter(isOurs);
  });
}
