/**
 * Schedules mean here what they mean to a CronJob: what we take, the API server takes, and when we say that
 * one fires, its controller's own parser says so. 500 expressions, made by a seed.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CRON_FIELDS } from '../../../api/cron.ts';
import { parseSchedule } from '../../../api/schedule/times.ts';
import { createClient, type KubeClient } from '../../../kube/client.ts';
import { ApiError } from '../../../kube/errors.ts';
import { cronJobs, namespaces } from '../../../kube/resource.ts';
import { ensureBinaries } from '../../cluster/build.ts';
import type { ApiServer } from '../../support/cluster/apiserver.ts';
import { sharedApiServer } from '../../support/cluster/sharedApiServer.ts';
import { quiet } from '../../support/process/progress.ts';

const namespace = 'cron';
const COUNT = 500;

let server: ApiServer;
let client: KubeClient;
beforeAll(async () => {
  server = await sharedApiServer();
  client = createClient(server.connection);
  await client.create(namespaces, { metadata: { name: namespace } });
}, 600_000);
afterAll(async () => {
  await client?.close();
  await server?.stop();
});

/** From 0 to 1, the same each time (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const random = seeded(20_26);
const between = (least: number, most: number) => least + Math.floor(random() * (most - least + 1));
const pick = <T>(items: readonly T[]): T => items[between(0, items.length - 1)] as T;

function field(least: number, most: number): string {
  const from = between(least, most);
  const to = between(from, most);
  return pick([
    '*',
    `*/${between(1, 30)}`,
    `${from}`,
    `${from}-${to}`,
    `${from}-${to}/${between(1, 9)}`,
    `${from}/${between(1, 9)}`,
    `${from},${to}`,
    `${to},${from}-${to}`,
  ]);
}

const fields = (): string =>
  [
    field(0, 59),
    field(0, 23),
    pick(['*', '?', field(1, 31)]),
    pick(['*', 'jan', 'MAR-may', field(1, 12)]),
    pick(['*', 'sun', 'Mon-Fri', field(0, 6)]),
  ].join(' ');

/** What is at the edge of the syntax, or beyond it. */
const odd = (): string => {
  const parts = fields().split(' ');
  const what = [
    '7',
    'L',
    '60',
    '-1',
    '1-',
    '5-1',
    '*/0',
    '**',
    '1,,2',
    '@',
    '1#2',
    'W',
    '0x5',
    '1.5',
    '',
    '*/1000',
    '00',
    '059',
  ];
  parts[between(0, 4)] = pick(what);
  return pick([
    parts.join(' '),
    parts.join(' '),
    `${parts.join(' ')} *`,
    '@daily',
    '@every 90s',
    'TZ=UTC * * * * *',
    ' * * * * *',
  ]);
};

const isTakenHere = (cron: string, timeZone: string): boolean => {
  if (!new RegExp(`^${CRON_FIELDS}$`).test(cron)) return false;
  try {
    parseSchedule(cron, timeZone);
    return true;
  } catch {
    return false;
  }
};

async function isTakenThere(schedule: string, timeZone: string): Promise<boolean> {
  const template = { spec: { restartPolicy: 'Never' as const, containers: [{ name: 'a', image: 'a' }] } };
  const spec = { schedule, timeZone, jobTemplate: { spec: { template } } };
  try {
    await client.create(cronJobs, { metadata: { name: 'one', namespace }, spec }, { dryRun: true });
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 422) return false;
    throw error;
  }
}

test(`of ${COUNT} expressions, good and odd, we take none that a CronJob refuses, and refuse only what is not our subset`, async () => {
  const expressions = Array.from({ length: COUNT }, (_, index) => (index % 2 === 0 ? fields() : odd()));
  const wrong: string[] = [];
  let taken = 0;
  for (const cron of expressions) {
    const [here, there] = [isTakenHere(cron, 'UTC'), await isTakenThere(cron, 'UTC')];
    taken += here ? 1 : 0;
    // Descriptors such as @daily, a step beyond every value, empty items, and blanks around the fields are
    // refused here alone.
    const isBeyondSubset =
      cron.startsWith('@') ||
      /\/\d{4}/.test(cron) ||
      cron.trim() !== cron ||
      cron.includes(',,') ||
      /\b0\d\d/.test(cron);
    if (here !== there && !(there && isBeyondSubset)) wrong.push(`${cron}: ${here} here, ${there} there`);
  }
  expect(wrong).toEqual([]);
  expect(taken).toBeGreaterThan(COUNT / 3);
  expect(taken).toBeLessThan(COUNT);
}, 60_000);

test.each([
  '0 0 * * 7',
  '0 0 * * 5-7',
  '0 0 L * *',
  '0 0 * * 5L',
  '0 0 15W * *',
  '0 0 * * 5#2',
  '0 0 0 * * *',
  'TZ=UTC 0 0 * * *',
])('%s is refused here, as it is there', async (cron) => {
  expect([isTakenHere(cron, 'UTC'), await isTakenThere(cron, 'UTC')]).toEqual([false, false]);
});

test.each([
  'UTC',
  'Europe/Berlin',
  'Asia/Calcutta',
  'Etc/GMT+5',
  'EST5EDT',
  'Mars/Olympus',
  'europe/berlin',
  '+01:00',
  'Local',
  '../UTC',
])('the time zone %s is taken here if it is taken there', async (timeZone) => {
  expect(isTakenHere('0 0 * * *', timeZone)).toBe(await isTakenThere('0 0 * * *', timeZone));
});

const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'America/Havana'];
const STARTS = [
  '2026-03-07',
  '2026-03-28',
  '2026-04-03',
  '2026-10-02',
  '2026-10-24',
  '2026-10-31',
  '2028-02-28',
];

test(`${COUNT} schedules fire when the controller's parser says, around every clock change`, async () => {
  const cases = Array.from(
    { length: COUNT },
    () => [fields(), pick(ZONES), `${pick(STARTS)}T12:34:56Z`] as const,
  );
  const program = join(await ensureBinaries(quiet), 'cron');
  const input = cases.map(([cron, zone, after]) => `${cron}\t${zone}\t${after}\t8\n`).join('');
  const { stdout } = spawnSync(program, { input, encoding: 'utf8' });
  const theirs = stdout.trimEnd().split('\n');
  const ours = cases.map(([cron, zone, after]) => times(cron, zone, Date.parse(after)).join('\t'));
  expect(ours.map((line, index) => `${cases[index]?.join(' ')}: ${line}`)).toEqual(
    theirs.map((line, index) => `${cases[index]?.join(' ')}: ${line}`),
  );
}, 60_000);

function times(cron: string, timeZone: string, after: number): string[] {
  const schedule = parseSchedule(cron, timeZone);
  const found: string[] = [];
  for (let time = schedule.next(after); time !== undefined && found.length < 8; time = schedule.next(time))
    found.push(new Date(time).toISOString().replace('.000Z', 'Z'));
  return found;
}
