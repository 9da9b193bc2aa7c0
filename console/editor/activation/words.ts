/** What a trigger will do once its workflow is active. */
import type { TriggerKind } from '../../../api/trigger.ts';

/** By the kind of the trigger. */
export const WHEN_ACTIVE: Record<TriggerKind, string> = {
  manual:
    'Runs are started by people and programs that ask for one. While it is inactive, only test runs are possible.',
  webhook: 'A URL appears here. Each POST of JSON to it starts a run.',
  schedule: 'A run starts at each of these times.',
  mail: 'The mailbox is looked at again and again. Each mail that comes from then on starts a run.',
  spreadsheet: 'The spreadsheet is looked at again and again. Rows that change from then on start runs.',
  fileStorage:
    'The folder is looked at again and again. Files that are added or changed from then on start runs.',
  bot: 'Messages to the bot start runs.',
};
