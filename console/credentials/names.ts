/** Names of credentials. Pure. */
const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LONGEST = 253;

/** The problem with a name; undefined: none. `taken`: the names of the project's other credentials. */
export function nameProblem(name: string, taken: ReadonlySet<string> = new Set()): string | undefined {
  if (name === '') return 'Enter a name';
  if (name.length > LONGEST) return `Use at most ${LONGEST} characters`;
  if (taken.has(name)) return 'Another credential has this name. Enter another one.';
  return NAME.test(name)
    ? undefined
    : 'Use lowercase letters, digits and hyphens. Start and end with a letter or digit.';
}

/**
 * A suggested name that is free, such as `mail` or `mail-2` for an account that sends mail. `wanted`: the
 * name that a workflow already uses; it is suggested if no credential has it yet.
 */
export function suggestedName(
  choice: string,
  taken: ReadonlySet<string> = new Set(),
  wanted?: string,
): string {
  if (wanted !== undefined && nameProblem(wanted, taken) === undefined) return wanted;
  const name = nameOf(choice);
  if (!taken.has(name)) return name;
  let number = 2;
  while (taken.has(`${name}-${number}`)) number += 1;
  return `${name}-${number}`;
}

function nameOf(choice: string): string {
  const NAMES: Record<string, string> = {
    openai: 'model',
    anthropic: 'claude',
    smtp: 'mail',
    imap: 'mailbox',
    http: 'api',
    s3: 'files',
    custom: 'account',
  };
  return NAMES[choice] ?? choice;
}
