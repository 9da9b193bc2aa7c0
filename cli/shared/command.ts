/**
 * What a command of `windlass` is, as data: the parser, `--help` and `docs/cli.md` are made from it. The code
 * of a command is loaded when it is executed, so that `--help` loads none.
 */
import type { ExitCode } from './exit.ts';
import type { Terminal } from './terminal.ts';

export type Argument = {
  name: string;
  description: string;
  /** It may be given several times, and at least once. */
  variadic?: true;
  /** It may be left out. */
  optional?: true;
  /** What it can be, for completion. The command checks it. */
  choices?: readonly string[];
  /** The objects of the cluster whose names a shell completes. Left out: files. */
  completes?: 'workflows' | 'runs' | 'credentials';
};

export type Option = {
  /** As commander reads them: `-o, --output <format>`. */
  flags: string;
  description: string;
  choices?: readonly string[];
  default?: string;
  /** It may be given several times; its values are a list. */
  repeatable?: true;
};

type Example = { command: string; does: string };

/** What was written on the command line: values of arguments in order, and of options by name. */
export type Invocation = {
  values: readonly string[];
  options: Readonly<Record<string, unknown>>;
  /** The files that kubectl would read. */
  kubeconfig: readonly string[];
};

type CommandCode = {
  /** @throws CommandError to end with a message */
  execute: (invocation: Invocation, terminal: Terminal) => Promise<ExitCode>;
};

export type Command = {
  name: string;
  /** One line, for the list of commands. */
  summary: string;
  /** Paragraphs, for the help of the command and its page. */
  description: readonly string[];
  arguments: readonly Argument[];
  options: readonly Option[];
  /** At least one. */
  examples: readonly [Example, ...Example[]];
  load: () => Promise<CommandCode>;
};
