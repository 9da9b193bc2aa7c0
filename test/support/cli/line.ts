/** Executes a command line of `windlass` in this process, and collects what it prints. */
import { COMMANDS } from '../../../cli/commands.ts';
import { executeLine } from '../../../cli/program.ts';
import type { Command } from '../../../cli/shared/command.ts';
import { createTerminal } from '../../../cli/shared/terminal.ts';

export type Printed = { code: number; stdout: string; stderr: string };

export type LineOptions = {
  /** The standard input. */
  input?: string;
  /** Whether both outputs are a terminal. */
  isTTY?: boolean;
  admitsColour?: boolean;
  commands?: readonly Command[];
  debug?: boolean;
  kubeconfig?: readonly string[];
  /** Called with each text that is written to the standard error. */
  onMessage?: (text: string) => void;
};

/** Executes `windlass` with these arguments. */
export async function windlass(
  line: readonly string[],
  {
    onMessage = () => undefined,
    input = '',
    isTTY = false,
    admitsColour = true,
    commands = COMMANDS,
    debug = false,
    kubeconfig = [],
  }: LineOptions = {},
): Promise<Printed> {
  const [stdout, stderr]: [string[], string[]] = [[], []];
  const terminal = createTerminal(
    {
      stdin: chunksOf(input),
      stdout: { isTTY, write: (text) => stdout.push(text) },
      stderr: {
        isTTY,
        write: (text) => {
          stderr.push(text);
          onMessage(text);
        },
      },
    },
    { admitsColour },
  );
  const code = await executeLine(commands, line, { terminal, debug, kubeconfig });
  return { code, stdout: stdout.join(''), stderr: stderr.join('') };
}

async function* chunksOf(text: string): AsyncGenerator<Uint8Array> {
  await Promise.resolve();
  yield Buffer.from(text);
}
