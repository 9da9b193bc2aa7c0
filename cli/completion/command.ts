/** `windlass completion`. */
import type { Invocation } from '../shared/command.ts';
import { CommandError, EXIT, type ExitCode } from '../shared/exit.ts';
import type { Terminal } from '../shared/terminal.ts';
import { COMPLETED, SCRIPTS } from './scripts.ts';

/** Prints the script of a shell. */
export function execute({ values }: Invocation, terminal: Terminal): Promise<ExitCode> {
  const shell = COMPLETED.find((each) => each === values[0]);
  if (!shell)
    throw new CommandError(
      EXIT.usage,
      `there is no completion for ${values[0]}: use ${COMPLETED.join(', ')}`,
    );
  terminal.print(SCRIPTS[shell]);
  return Promise.resolve(EXIT.ok);
}
