/** Labels of fields, derived from their names: `maxTokens` is shown as "Max tokens". */
import { capitalized } from '../ui/format.ts';

/** Words with a special spelling. */
const WORDS: Record<string, string> = {
  url: 'URL',
  api: 'API',
  id: 'ID',
  tls: 'TLS',
  html: 'HTML',
  http: 'HTTP',
  json: 'JSON',
  hmac: 'HMAC',
  mime: 'MIME',
  imap: 'IMAP',
  cc: 'CC',
  bcc: 'BCC',
  ttl: 'TTL',
  github: 'GitHub',
};

/** Labels of names that say too little. */
const LABELS: Record<string, string> = {
  displayName: 'Name',
  forEach: 'For each',
  onError: 'On error',
  onFailure: 'Error workflow',
  recordData: 'Saved inputs and outputs',
  mimeTypes: 'MIME types',
  memoryMiB: 'Memory (MiB)',
  cron: 'When',
  standardWebhooks: 'Standard Webhooks',
  checkURL: 'Test URL',
  unseenOnly: 'Unread only',
  mail: 'Email',
  reply_email: 'Reply to email',
  hmac: 'HMAC signature',
  bearer: 'Bearer token',
  basic: 'Username and password',
  auth: 'Authentication',
  dedupe: 'Detect duplicates',
  effect: 'After a crash',
  fallback: 'Fallback models',
  ttl: 'Forget after',
  missed: 'Missed times',
  perRow: 'One run for each row',
  startingDeadlineSeconds: 'Deadline (seconds)',
  pollIntervalSeconds: 'Poll interval (seconds)',
  maxAttachmentBytes: 'Max attachment size (bytes)',
  maxResponseBytes: 'Max response size (bytes)',
  maxBytes: 'Max size (bytes)',
};

/** "Max tokens" of `maxTokens`, "API URL" of `apiURL`, "Secrets" of `secretRefs`. */
export function labelOf(name: string): string {
  if (Object.hasOwn(LABELS, name)) return LABELS[name] ?? name;
  const spaced = name
    .replace(/Refs$/, 's')
    .replace(/Ref$/, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .replace(/_/g, ' ');
  const words = spaced.split(' ').map((word) => wordOf(word.toLowerCase()));
  const [first = '', ...rest] = words;
  return [capitalized(first), ...rest].join(' ');
}

/** A name may be that of an inherited member, such as constructor. */
function wordOf(word: string): string {
  return Object.hasOwn(WORDS, word) ? (WORDS[word] ?? word) : word;
}

/** That a field has no value: "Subject is required.", "Values are required." */
export function requiredText(label: string): string {
  return `${label} ${/[^su]s$/.test(label) ? 'are' : 'is'} required.`;
}

/** The label of an enum value: "At least once" of `AtLeastOnce`; `application/json` stays as it is. */
export function choiceLabel(value: string | number | boolean): string {
  const text = String(value);
  return /^[A-Z][a-z]+([A-Z][a-z]+)+$/.test(text) ? labelOf(text) : text;
}
