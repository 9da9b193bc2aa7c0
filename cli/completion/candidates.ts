/** What may follow on a command line of `windlass`. Pure. */
import type { Argument, Command, Option } from '../shared/command.ts';

export type ClusterNames = NonNullable<Argument['completes']> | 'namespaces' | 'contexts';

/** Words, or objects of the cluster whose names fit; neither: files. */
export type Candidates = { words: readonly string[] } | { names: ClusterNames } | { files: true };

/** The candidates for the last of these words, which follow `windlass`; it may be empty or begun. */
export function candidates(commands: readonly Command[], line: readonly string[]): Candidates {
  const before = line.slice(0, -1);
  const begun = line.at(-1) ?? '';
  const [name, ...words] = before;
  if (name === undefined) return beginning(begun, ['--help', ...commands.map((command) => command.name)]);
  const command = commands.find((each) => each.name === name);
  if (!command) return { words: [] };
  const option = optionOf(command, words.at(-1));
  if (option && takesValue(option)) return valueOf(option, begun);
  if (begun.startsWith('-')) return beginning(begun, command.options.map(longFlag).concat('--help'));
  return ofArgument(command, words, begun);
}

function beginning(begun: string, words: readonly string[]): Candidates {
  const fit = words.filter((word) => word.startsWith(begun) && (begun !== '' || !word.startsWith('-')));
  return { words: fit };
}

function ofArgument(
  { arguments: args, options }: Command,
  words: readonly string[],
  begun: string,
): Candidates {
  if (words.includes('--local')) return { files: true };
  const given = words.filter((word, index) => {
    const before = options.find((option) => flagsOf(option).includes(words[index - 1] ?? ''));
    return !word.startsWith('-') && !(before && takesValue(before));
  });
  const argument = args[given.length] ?? (args.at(-1)?.variadic ? args.at(-1) : undefined);
  if (!argument) return { words: [] };
  if (argument.choices) return beginning(begun, argument.choices);
  return argument.completes ? { names: argument.completes } : { files: true };
}

const OF_CLUSTER: Readonly<Record<string, ClusterNames>> = {
  '--namespace': 'namespaces',
  '--system-namespace': 'namespaces',
  '--context': 'contexts',
};

function valueOf(option: Option, begun: string): Candidates {
  if (option.choices) return beginning(begun, option.choices);
  const names = OF_CLUSTER[longFlag(option)];
  return names ? { names } : { files: true };
}

function optionOf({ options }: Command, word: string | undefined): Option | undefined {
  return options.find((option) => word !== undefined && flagsOf(option).includes(word));
}

const takesValue = ({ flags }: Option): boolean => flags.includes('<');

/** `-o` and `--output` of `-o, --output <format>`. */
function flagsOf({ flags }: Option): string[] {
  return flags.split(/[ ,]+/).filter((part) => part.startsWith('-'));
}

const longFlag = (option: Option): string => flagsOf(option).at(-1) ?? '';
