/**
 * Parses a command line and executes its command. Guarantees an exit code of `EXIT_CODES` and, for every
 * failure, a sentence without a stack trace.
 */
import { Command as Parser, CommanderError, Option as ParserOption } from 'commander';
import { COMPLETE } from './completion/scripts.ts';
import type { Argument, Command, Option } from './shared/command.ts';
import { CommandError, EXIT, EXIT_CODES, type ExitCode } from './shared/exit.ts';
import type { Terminal } from './shared/terminal.ts';

export type ProgramOptions = {
  terminal: Terminal;
  /** Shows where a defect happened. */
  debug: boolean;
  /** The files that kubectl would read. */
  kubeconfig?: readonly string[];
};

const ABOUT =
  'Checks, runs and tests Windlass workflows, from their manifests without a cluster or on a cluster.';

/** What other programs have in place of the command `version`. */
const VERSION_FLAGS = ['-V', '--version'];

/** Executes a command line, without the program itself: `['lint', 'orders.yaml']`. Never throws. */
export async function executeLine(
  commands: readonly Command[],
  line: readonly string[],
  { terminal, debug, kubeconfig = [] }: ProgramOptions,
): Promise<ExitCode> {
  if (line[0] === COMPLETE) {
    const { complete } = await import('./completion/complete.ts');
    await complete(commands, line.slice(1), { terminal, kubeconfig });
    return EXIT.ok;
  }
  let code: ExitCode = EXIT.ok;
  const words = VERSION_FLAGS.includes(line[0] ?? '') ? ['version'] : line;
  const parser = parserOf(commands, { terminal, kubeconfig, exit: (exit) => (code = exit) });
  try {
    await parser.parseAsync(words.length === 0 ? ['--help'] : words, { from: 'user' });
    return code;
  } catch (error) {
    return tellFailure(error, terminal, debug);
  }
}

function tellFailure(error: unknown, terminal: Terminal, debug: boolean): ExitCode {
  // The parser has printed its message, or the help, itself.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  const title = terminal.paint('red', 'error:', 'stderr');
  if (error instanceof CommandError) {
    terminal.tell(`${title} ${error.message}`);
    return error.code;
  }
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  terminal.tell(`${title} defect of windlass: ${message}`);
  terminal.tell(debug ? (stack ?? '') : 'Run the command again with WINDLASS_DEBUG=1 to see where.');
  return EXIT.internal;
}

type Execution = {
  terminal: Terminal;
  kubeconfig: readonly string[];
  exit: (code: ExitCode) => void;
};

function parserOf(commands: readonly Command[], execution: Execution): Parser {
  const { terminal } = execution;
  const parser = new Parser('windlass')
    .description(ABOUT)
    .addHelpText('after', exitCodesText())
    .helpCommand('help [command]', 'Show the help of a command')
    .helpOption('-h, --help', 'Show this help')
    .addOption(new ParserOption(VERSION_FLAGS.join(', '), 'Print the version'))
    .showHelpAfterError('Run it with --help to see its arguments and options.')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.print(text.trimEnd()),
      writeErr: (text) => terminal.tell(text.trimEnd()),
    });
  for (const command of commands) addCommand(parser, command, execution);
  return parser;
}

function exitCodesText(): string {
  const lines = Object.entries(EXIT_CODES).map(([code, means]) => `  ${code.padStart(2)}  ${means}`);
  return `\nExit codes:\n${lines.join('\n')}`;
}

function addCommand(
  parser: Parser,
  { name, summary, description, arguments: args, options, examples, load }: Command,
  { terminal, kubeconfig, exit }: Execution,
): void {
  const child = parser.command(name).summary(summary).description(description.join('\n\n'));
  child.helpOption('-h, --help', 'Show this help');
  for (const argument of args) child.argument(writtenArgument(argument), argument.description);
  for (const option of options) child.addOption(parserOption(option));
  const shown = examples.map(({ command, does }) => `  # ${does}\n  ${command}`);
  child.addHelpText('after', `\nExamples:\n${shown.join('\n\n')}`);
  child.action(async () => {
    const { execute } = await load();
    exit(await execute({ values: child.args, options: child.opts(), kubeconfig }, terminal));
  });
}

/** As the parser reads it: `<file...>`, `[run]`. */
function writtenArgument({ name, variadic, optional }: Argument): string {
  const written = variadic ? `${name}...` : name;
  return optional ? `[${written}]` : `<${written}>`;
}

function parserOption({ flags, description, choices, default: value, repeatable }: Option): ParserOption {
  const option = new ParserOption(
    flags,
    repeatable ? `${description} It may be given several times.` : description,
  );
  if (choices) option.choices(choices);
  if (value !== undefined) option.default(value);
  if (repeatable) {
    // Each time one value, so that arguments may follow the option.
    option.argParser((each: string, before: string[] | undefined) => [...(before ?? []), each]);
  }
  return option;
}
