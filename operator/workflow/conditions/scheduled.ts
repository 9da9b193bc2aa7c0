/** The condition `Scheduled`. Pure. */
import type { Facts, Update } from './facts.ts';

export function scheduled({ schedule }: Facts, now: Date): Update[] {
  const type = 'Scheduled';
  if (schedule === undefined) return [];
  if (schedule.kind === 'placed') {
    const { cronJob, failing } = schedule;
    if (failing === undefined || failing.from > now.getTime())
      return [{ type, status: 'True', reason: 'Scheduled', message: `CronJob ${cronJob} is in place.` }];
    return [{ type, status: 'False', reason: 'TicksFail', message: ticksFail(cronJob, failing.since) }];
  }
  const { reason, message, cronJob } = schedule;
  const goesOn = cronJob === undefined ? '' : `${untilThen(cronJob)} `;
  return [{ type, status: 'False', reason, message: `${goesOn}${message}` }];
}

function ticksFail(cronJob: string, since: number): string {
  const time = new Date(since).toISOString().replace('.000Z', 'Z');
  return `No tick of CronJob ${cronJob} has succeeded since ${time}. Inspect its Jobs and pods: kubectl describe pods -l app.kubernetes.io/name=windlass-tick`;
}

export function untilThen(cronJob: string): string {
  return `CronJob ${cronJob} still starts runs.`;
}
