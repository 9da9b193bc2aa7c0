/** Triggers with their labels and credentials. */
import { ACCEPTED_CREDENTIALS } from '../../api/credentialKinds.ts';
import type { TriggerKind } from '../../api/triggerKinds.ts';
import { reasonLabel } from './items.ts';
import { kindLabel } from './kinds.ts';

type Words = {
  kind: TriggerKind;
  label: string;
  starts: string;
  /** The accepted kinds of credentials; empty: none. */
  credentials: readonly string[];
};

const trigger = (kind: TriggerKind, starts: string, credentials: readonly string[] = []): Words => ({
  kind,
  label: kindLabel(kind),
  starts,
  credentials,
});

/** In the order of the picker. */
export const TRIGGERS: readonly Words[] = [
  trigger('webhook', 'A program calls a URL'),
  trigger('schedule', 'At set times'),
  trigger('mail', 'An email arrives', ACCEPTED_CREDENTIALS.mail),
  trigger('bot', 'Someone messages a bot', ACCEPTED_CREDENTIALS.bot),
  trigger('chat', 'Someone writes on a chat page'),
  trigger('spreadsheet', 'Rows of a spreadsheet change', ACCEPTED_CREDENTIALS.spreadsheet),
  trigger('fileStorage', 'A file is added or modified', ACCEPTED_CREDENTIALS.fileStorage),
  trigger('manual', 'Someone starts it'),
];

export function triggerInfo(kind: TriggerKind): Words | undefined {
  return TRIGGERS.find((trigger) => trigger.kind === kind);
}

/**
 * The label of what started a run: a trigger, or anything else, such as a failed run. Whoever starts a run by
 * hand or through the API executes the workflow, whatever its trigger is.
 */
export function triggerLabel(kind: string): string {
  if (kind === 'execute') return kindLabel('manual');
  return TRIGGERS.find((trigger) => trigger.kind === kind)?.label ?? reasonLabel(kind);
}

export function kindsOfCredentials(kind: TriggerKind): readonly string[] {
  return triggerInfo(kind)?.credentials ?? [];
}
