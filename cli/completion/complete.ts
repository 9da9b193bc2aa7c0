/** Answers a shell that completes a command line. */
import type { Command } from '../shared/command.ts';
import type { Terminal } from '../shared/terminal.ts';
import { candidates } from './candidates.ts';
import { clusterNames } from './names.ts';

type Options = { namespace?: string; context?: string; kubeconfig?: string };

const FLAGS: readonly [flag: string, option: keyof Options][] = [
  ['-n', 'namespace'],
  ['--namespace', 'namespace'],
  ['--context', 'context'],
  ['--kubeconfig', 'kubeconfig'],
];

/** Prints a word on each line; nothing if files fit. */
export async function complete(
  commands: readonly Command[],
  line: readonly string[],
  { terminal, kubeconfig }: { terminal: Terminal; kubeconfig: readonly string[] },
): Promise<void> {
  const found = candidates(commands, line);
  if ('files' in found) return;
  const options = optionsIn(line);
  const files = options.kubeconfig === undefined ? kubeconfig : [options.kubeconfig];
  const words =
    'words' in found ? found.words : await clusterNames(found.names, { options, kubeconfig: files });
  const begun = line.at(-1) ?? '';
  for (const word of words) if (word.startsWith(begun)) terminal.print(word);
}

/** The options before the word that is completed, which say where names are. */
function optionsIn(line: readonly string[]): Options {
  const values = FLAGS.flatMap(([flag, option]) => {
    const at = line.indexOf(flag);
    const value = line[at + 1];
    return at === -1 || at + 1 >= line.length - 1 || value === undefined ? [] : [[option, value]];
  });
  return Object.fromEntries(values) as Options;
}
