/** Triggers with their labels and credentials. */
import { ACCEPTED_CREDENTIALS } from '../../api/credentialKinds.ts';
import type { TriggerKind } from '../../api/trigger.ts';
import { reasonLabel } from './items.ts';

type Words = {
  kind: TriggerKind;
  label: string;
  starts: string;
  /** The accepted kinds of credentials; empty: none. */
  credentials: readonly string[];
};

/** In the order of the picker. */
export const TRIGGERS: readonly Words[] = [
  {
    kind: 'webhook',
    label: 'Webhook',
    starts: 'A program calls a URL',
    credentials: [],
  },
  { kind: 'schedule', label: 'Schedule', starts: 'On a schedule', credentials: [] },
  { kind: 'mail', label: 'Mail', starts: 'A mail arrives', credentials: ACCEPTED_CREDENTIALS.mail },
  {
    kind: 'bot',
    label: 'Bot',
    starts: 'Someone messages a bot',
    credentials: ACCEPTED_CREDENTIALS.bot,
  },
  {
    kind: 'chat',
    label: 'Chat',
    starts: 'Someone writes on a chat page',
    credentials: [],
  },
  {
    kind: 'spreadsheet',
    label: 'Spreadsheet',
    starts: 'Rows of a spreadsheet change',
    credentials: ACCEPTED_CREDENTIALS.spreadsheet,
  },
  {
    kind: 'fileStorage',
    label: 'Files',
    starts: 'A file is added or modified',
    credentials: ACCEPTED_CREDENTIALS.fileStorage,
  },
  { kind: 'manual', label: 'Manual', starts: 'Someone starts it', credentials: [] },
];

export function triggerInfo(kind: TriggerKind): Words | undefined {
  return TRIGGERS.find((trigger) => trigger.kind === kind);
}

/** The label of what started a run: a trigger, or anything else, such as an API call. */
export function triggerLabel(kind: string): string {
  return TRIGGERS.find((trigger) => trigger.kind === kind)?.label ?? reasonLabel(kind);
}

export function kindsOfCredentials(kind: TriggerKind): readonly string[] {
  return triggerInfo(kind)?.credentials ?? [];
}
