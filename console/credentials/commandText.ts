/** Messages of the operator about a Secret end with a command that mends the credential. Pure. */

/**
 * As `operator/credential/check.ts` writes it; a test compares them. From the beginning: other messages end
 * with what a provider wrote.
 */
const WITH_COMMAND = /^(Secret \S+ (?:does not exist|has no key \S+)\.) (?:Create|Add) it: (kubectl .+)$/s;

/** The message without its command, and the command; undefined: it has none. */
export function withoutCommand(message: string): { text: string; command: string | undefined } {
  const [, text = message, command] = WITH_COMMAND.exec(message) ?? [];
  return { text, command };
}
