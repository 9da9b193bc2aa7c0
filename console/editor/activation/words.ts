/** What a trigger will do once its workflow is active. */
import type { TriggerKind } from '../../../api/trigger.ts';

/** By the kind of the trigger. */
const WHEN_ACTIVE: Record<TriggerKind, string> = {
  manual: 'People and programs start runs.',
  webhook: 'Each POST request with JSON to its URL starts a run.',
  schedule: 'A run starts at each of these times.',
  mail: 'The mailbox is polled. Each new mail starts a run.',
  spreadsheet: 'The spreadsheet is polled. Rows that change start runs.',
  fileStorage: 'The folder is polled. Files that are added or changed start runs.',
  bot: 'Messages to the bot start runs.',
};

/** Whether the kind of a node is one of those. */
export function isOfTrigger(kind: string): kind is TriggerKind {
  return kind in WHEN_ACTIVE;
}

/** What the trigger does as soon as it starts runs, and what has to happen before. */
export function whatItWillDo(kind: TriggerKind, { active, suspend }: Switches): string {
  if (suspend === true) return `After you resume${active ? '' : ' and activate'} it: ${WHEN_ACTIVE[kind]}`;
  const meanwhile = kind === 'manual' ? ' While inactive, only test runs are possible.' : '';
  return `When active: ${WHEN_ACTIVE[kind]}${meanwhile}`;
}

type Switches = { active: boolean; suspend?: boolean | undefined };
