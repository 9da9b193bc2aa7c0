/** What deleting a workflow brings with it, in sentences. */
import { count } from '../words.ts';
import { managerText } from './manager.ts';
import type { WorkflowItem } from './rows.ts';

type Deleted = Pick<WorkflowItem, 'trigger' | 'url' | 'active' | 'running' | 'manager'>;

/** How many runs have a record, as far as was counted. */
export type RecordedRuns = { number: number; isAll: boolean };

export function consequencesOf(item: Deleted, recorded: RecordedRuns | undefined): string[] {
  return [
    ...(item.active ? endOfTrigger(item) : []),
    ...(item.running > 0
      ? [`${count(item.running, 'run')} under way ${item.running === 1 ? 'is' : 'are'} cancelled.`]
      : []),
    recordsText(recorded),
    ...(item.manager === undefined
      ? []
      : [`${managerText(item.manager)} manages it and may make it again: delete it there, too.`]),
  ];
}

function endOfTrigger({ trigger, url }: Deleted): string[] {
  switch (trigger) {
    case 'webhook':
      return [url === undefined ? 'Its webhook stops answering.' : `Its webhook stops answering: ${url}`];
    case 'schedule':
      return ['Its times start nothing any more.'];
    case 'mail':
    case 'spreadsheet':
    case 'fileStorage':
      return ['Nobody looks at its account any more, and up to where it was read is forgotten.'];
    case 'bot':
      return ['What people write to its bot starts nothing any more.'];
    case 'manual':
    case undefined:
      return [];
  }
}

function recordsText(recorded: RecordedRuns | undefined): string {
  if (recorded === undefined) return 'The records of its runs are deleted with it.';
  if (recorded.number === 0 && recorded.isAll) return 'It has no recorded runs.';
  const least = recorded.isAll ? '' : 'At least ';
  const { number } = recorded;
  return `${least}${count(number, 'recorded run')} ${number === 1 ? 'is' : 'are'} deleted with it, with all outputs.`;
}
