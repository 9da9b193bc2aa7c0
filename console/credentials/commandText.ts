/** Messages of the operator end with a command where one mends the credential. Pure. */

/** As `operator/credential/check.ts` writes it; a test compares them. */
const COMMAND = / (?:Create|Add) it: (kubectl .+)$/s;

/** The message without its command, and the command; undefined: it has none. */
export function withoutCommand(message: string): { text: string; command: string | undefined } {
  const command = COMMAND.exec(message)?.[1];
  return { text: message.replace(COMMAND, ''), command };
}
