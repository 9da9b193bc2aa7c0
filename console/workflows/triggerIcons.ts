/** The icons of triggers. */
import {
  IconCalendarTime,
  IconFolder,
  IconHandClick,
  IconMail,
  IconMessageCircle,
  IconMessages,
  IconTable,
  IconWebhook,
} from '@tabler/icons-react';
import type { ComponentType } from 'react';
import type { TriggerKind } from '../../api/triggerKinds.ts';

export const TRIGGER_ICONS: Readonly<Record<TriggerKind, ComponentType<{ size?: number | string }>>> = {
  webhook: IconWebhook,
  schedule: IconCalendarTime,
  mail: IconMail,
  bot: IconMessageCircle,
  chat: IconMessages,
  spreadsheet: IconTable,
  fileStorage: IconFolder,
  manual: IconHandClick,
};
