/** Names of credentials. Pure. */
const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LONGEST = 253;

/** The problem with a name; undefined: none. */
export function nameProblem(name: string): string | undefined {
  if (name === '') return 'Enter a name';
  if (name.length > LONGEST) return `Use at most ${LONGEST} characters`;
  return NAME.test(name)
    ? undefined
    : 'Use lowercase letters, digits and hyphens. Start and end with a letter or digit.';
}

/** A suggested name, such as `mail` for an account that sends mail. */
export function suggestedName(choice: string): string {
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
