/**
 * Polls a spreadsheet each time it is changeNames to, in a process of its own, and says what each poll took.
 */
import { readFileSync } from 'node:fs';
import { sheetPolls } from '../support/nodes/sheetPolls.ts';

/** What a poll took, with all that followed at once. `memoryMiB`: the most that the process ever had. */
export type PollTook = {
  changes: number;
  events: number;
  cpuMs: number;
  memoryMiB: number;
  keptKiB: number;
};

const [apiURL = '', keyColumn = ''] = process.argv.slice(2);
const polls = sheetPolls(
  { oauth2: { preset: 'google', clientID: 'client', apiURL } },
  { ...(keyColumn && { keyColumn }) },
);

async function poll(): Promise<PollTook> {
  const cpu = process.cpuUsage();
  let [changes, events] = [0, 0];
  for (let more = true; more; ) {
    const polled = await polls.poll();
    events += polled.events.length;
    for (const { output } of polled.events)
      changes += (output.data_content as { changes: unknown[] }).changes.length;
    ({ more } = polled);
  }
  const { user, system } = process.cpuUsage(cpu);
  const [, most = '0'] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  const { bytes } = await polls.state();
  return {
    changes,
    events,
    cpuMs: (user + system) / 1_000,
    memoryMiB: Number(most) / 1_024,
    keptKiB: (bytes?.length ?? 0) / 1_024,
  };
}

process.on('message', () => void poll().then((took) => process.send?.(took)));
