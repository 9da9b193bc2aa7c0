/** The triggers in words and pictures, and which credentials they take. */
import {
  IconCalendarTime,
  IconFolder,
  IconHandClick,
  IconMail,
  IconMessageCircle,
  IconTable,
  IconWebhook,
} from '@tabler/icons-react';
import type { ComponentType } from 'react';
import type { TriggerKind } from '../../api/trigger.ts';
import { reasonWords } from './items.ts';

type Words = {
  kind: TriggerKind;
  label: string;
  /** What starts a run. */
  starts: string;
  icon: ComponentType<{ size?: number | string }>;
  /** Kinds of credentials that it takes; empty: it needs none. */
  credentials: readonly string[];
};

/** In the order in which they are offered. */
export const TRIGGERS: readonly Words[] = [
  {
    kind: 'webhook',
    label: 'Webhook',
    starts: 'A program calls a URL',
    icon: IconWebhook,
    credentials: [],
  },
  { kind: 'schedule', label: 'Schedule', starts: 'On a schedule', icon: IconCalendarTime, credentials: [] },
  { kind: 'mail', label: 'Mail', starts: 'A mail arrives', icon: IconMail, credentials: ['imap', 'oauth2'] },
  {
    kind: 'bot',
    label: 'Bot',
    starts: 'Someone messages a bot',
    icon: IconMessageCircle,
    credentials: ['bot'],
  },
  {
    kind: 'spreadsheet',
    label: 'Spreadsheet',
    starts: 'Rows of a spreadsheet change',
    icon: IconTable,
    credentials: ['oauth2'],
  },
  {
    kind: 'fileStorage',
    label: 'Files',
    starts: 'A file is added or modified',
    icon: IconFolder,
    credentials: ['s3', 'oauth2'],
  },
  { kind: 'manual', label: 'Manual', starts: 'Someone starts it', icon: IconHandClick, credentials: [] },
];

/** What a new workflow names where the project has no fitting credential yet; the editor asks for one. */
export const PLACEHOLDER = 'choose-an-account';

export function triggerWords(kind: TriggerKind): Words | undefined {
  return TRIGGERS.find((trigger) => trigger.kind === kind);
}

/** What started a run, in words: a kind of trigger, or what is no trigger, such as a call. */
export function triggerLabel(kind: string): string {
  return TRIGGERS.find((trigger) => trigger.kind === kind)?.label ?? reasonWords(kind);
}

export function kindsOfCredentials(kind: TriggerKind): readonly string[] {
  return triggerWords(kind)?.credentials ?? [];
}
