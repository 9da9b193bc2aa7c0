/** The kinds of triggers, without their schemas: the console has none, which need code that its pages forbid. */

export const TRIGGER_KINDS = [
  'manual',
  'schedule',
  'webhook',
  'mail',
  'spreadsheet',
  'fileStorage',
  'bot',
  'chat',
] as const;

export type TriggerKind = (typeof TRIGGER_KINDS)[number];
