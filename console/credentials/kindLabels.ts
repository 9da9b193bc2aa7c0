/** Labels of the kinds of credentials, apart from the form, which the first page does not load. */

const KIND_LABELS: Record<string, string> = {
  openai: 'Language model',
  anthropic: 'Language model',
  smtp: 'Send email (SMTP)',
  imap: 'Read email (IMAP)',
  oauth2: 'Google, Microsoft or other account',
  bot: 'Telegram or Slack bot',
  http: 'HTTP API',
  s3: 'S3 bucket',
};

/** The label of a kind. */
export function credentialKindLabel(kind: string | undefined): string {
  return kind === undefined ? '' : (KIND_LABELS[kind] ?? kind);
}

/**
 * The labels of the kinds, each once, joined with "or". If the last label contains "or" itself, they are
 * joined with commas instead, after `listPrefix`.
 */
export function credentialKindsText(kinds: readonly string[], listPrefix = ''): string {
  const labels = [...new Set(kinds.map(credentialKindLabel))];
  const isList = labels.length > 1 && labels.at(-1)?.includes(' or ') === true;
  return isList ? `${listPrefix}${labels.join(', ')}` : labels.join(' or ');
}

/** The credential of a new workflow if the project has no fitting one; the editor asks for it. */
export const NOT_CHOSEN = 'choose-an-account';
