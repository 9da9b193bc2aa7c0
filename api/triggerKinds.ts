/** The kinds of triggers, without their schemas, whose library needs code that the console's pages forbid. */

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
