/** The consequences of deleting, suspending and resuming a workflow, as sentences. */
import { count } from '../ui/format.ts';
import { managerText } from './manager.ts';
import type { WorkflowItem } from './items.ts';

type Deleted = Pick<WorkflowItem, 'trigger' | 'url' | 'active' | 'running' | 'waiting' | 'manager'>;

/** The number of recorded runs, as far as they were counted. */
export type RecordedRuns = { number: number; isAll: boolean };

export function consequencesOf(item: Deleted, recorded: RecordedRuns | undefined): string[] {
  const open = item.running + item.waiting;
  return [
    ...(item.active ? endOfTrigger(item) : []),
    ...(open > 0 ? [`${count(open, 'unfinished run')} ${open === 1 ? 'is' : 'are'} cancelled.`] : []),
    recordsText(recorded),
    ...(item.manager === undefined
      ? []
      : [`${managerText(item.manager)} manages it and may recreate it: delete it there too.`]),
  ];
}

function endOfTrigger({ trigger, url }: Deleted): string[] {
  switch (trigger) {
    case 'webhook':
      return [url === undefined ? 'Its webhook stops working.' : `Its webhook stops working: ${url}`];
    case 'schedule':
      return ['Its schedule no longer starts runs.'];
    case 'mail':
    case 'spreadsheet':
    case 'fileStorage':
      return ['Its account is no longer polled, and the cursor is lost.'];
    case 'bot':
      return ['Messages to its bot no longer start runs.'];
    case 'chat':
      return [url === undefined ? 'Its chat page stops working.' : `Its chat page stops working: ${url}`];
    case 'manual':
    case undefined:
      return [];
  }
}

function recordsText(recorded: RecordedRuns | undefined): string {
  if (recorded === undefined) return 'The records of its runs are deleted.';
  if (recorded.number === 0 && recorded.isAll) return 'It has no recorded runs.';
  const least = recorded.isAll ? '' : 'At least ';
  const { number } = recorded;
  return `${least}${count(number, 'recorded run')} ${number === 1 ? 'is' : 'are'} deleted with all outputs.`;
}

type Suspended = Pick<WorkflowItem, 'trigger' | 'active' | 'running' | 'waiting'>;

export function suspensionOf({ trigger, active, running, waiting }: Suspended): string[] {
  return [
    'Every run is refused, including test runs.',
    ...(active ? pauseOfTrigger(trigger) : []),
    waiting === 0
      ? 'Runs that are not executing are paused: they start or continue when you resume it.'
      : `${count(waiting, 'run')} ${waiting === 1 ? 'is paused: it starts or continues' : 'are paused: they start or continue'} when you resume it.`,
    running === 0
      ? 'Runs that are executing continue. Cancel them on their pages.'
      : `${count(running, 'run')} ${running === 1 ? 'is executing and continues. Cancel it on its page.' : 'are executing and continue. Cancel them on their pages.'}`,
  ];
}

function pauseOfTrigger(trigger: Suspended['trigger']): string[] {
  switch (trigger) {
    case 'webhook':
      return ['Its webhook responds with 404: requests are lost unless the sender retries later.'];
    case 'schedule':
      return ['Scheduled times that pass are skipped and not made up later.'];
    case 'mail':
    case 'spreadsheet':
    case 'fileStorage':
      return ['Changes at its account are skipped and start no runs later.'];
    case 'bot':
      return ['Messages to its bot are skipped and start no runs later.'];
    case 'chat':
      return ['Its chat page responds with 404, and messages are refused.'];
    case 'manual':
    case undefined:
      return [];
  }
}

export function resumptionOf({ active }: Pick<Suspended, 'active'>): string[] {
  return [
    active
      ? 'Its trigger starts runs again, and test runs are accepted.'
      : 'Test runs are accepted again. It stays inactive: its trigger starts no runs.',
  ];
}
