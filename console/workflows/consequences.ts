/** What deleting, suspending and resuming a workflow bring with them, in sentences. */
import { count } from '../words.ts';
import { managerText } from './manager.ts';
import type { WorkflowItem } from './rows.ts';

type Deleted = Pick<WorkflowItem, 'trigger' | 'url' | 'active' | 'running' | 'waiting' | 'manager'>;

/** How many runs have a record, as far as was counted. */
export type RecordedRuns = { number: number; isAll: boolean };

export function consequencesOf(item: Deleted, recorded: RecordedRuns | undefined): string[] {
  const open = item.running + item.waiting;
  return [
    ...(item.active ? endOfTrigger(item) : []),
    ...(open > 0 ? [`${count(open, 'run')} under way ${open === 1 ? 'is' : 'are'} cancelled.`] : []),
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
      return ['Its account is not polled any more, and the position in it is deleted.'];
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

type Suspended = Pick<WorkflowItem, 'trigger' | 'active' | 'running' | 'waiting'>;

/** What comes of suspending it. */
export function suspensionOf({ trigger, active, running, waiting }: Suspended): string[] {
  return [
    'Every run is refused, also test runs.',
    ...(active ? pauseOfTrigger(trigger) : []),
    waiting === 0
      ? 'Runs that wait are held back, and start when it is resumed.'
      : `${count(waiting, 'run that waits', 'runs that wait')} ${waiting === 1 ? 'is held back, and starts' : 'are held back, and start'} when it is resumed.`,
    running === 0
      ? 'A run that is executing continues: cancel it on its page.'
      : `${count(running, 'run')} that ${running === 1 ? 'is executing continues: cancel it on its page.' : 'are executing continue: cancel them on their pages.'}`,
  ];
}

function pauseOfTrigger(trigger: Suspended['trigger']): string[] {
  switch (trigger) {
    case 'webhook':
      return ['Its webhook answers 404: what is sent meanwhile is lost, unless the sender tries again.'];
    case 'schedule':
      return ['Times that pass meanwhile start no run, also not later.'];
    case 'mail':
    case 'spreadsheet':
    case 'fileStorage':
      return ['What happens at its account meanwhile starts no run, also not later.'];
    case 'bot':
      return ['Messages to its bot start no run, also not later.'];
    case 'manual':
    case undefined:
      return [];
  }
}

/** What comes of resuming it, beside the runs that wait. */
export function resumptionOf({ active }: Pick<Suspended, 'active'>): string[] {
  return [
    active
      ? 'Its trigger starts runs again, and test runs are accepted.'
      : 'Test runs are accepted again. It stays inactive: its trigger starts no runs.',
  ];
}
