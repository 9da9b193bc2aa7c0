/**
 * `quotas`: what a run store with little memory holds while small events become large runs, what a project
 * can keep of its ended runs, and what a neighbour notices of either.
 */
import { connectRunStore, type RunStoreConnection } from '../../store/connection.ts';
import { claimRuns } from '../../runs/claim.ts';
import type { Use } from '../../runs/storeUse.ts';
import { openProject } from '../../runs/project.ts';
import { setQuotas } from '../../runs/limits.ts';
import { submit } from '../../runs/submit.ts';
import type { Advance } from '../../runs/types/advance.ts';
import type { Submission } from '../../runs/types/submission.ts';
import { endRecorded, setMemoryQuotas, passParkedTime, stepOn } from '../support/runStore/growingRuns.ts';
import { startRedis } from '../support/runStore/redis.ts';
import type { Figure } from './report.ts';

const MAX_MEMORY = 64 * 2 ** 20;
const [FLOODING, NEIGHBOUR] = ['flooding', 'neighbour'];
const GROWING_RUNS = 400;
const AT_ONCE = 50;
/** Each update gives half of what is left: so little is none. */
const LEFT_BYTES = 100 * 1024;
const MEASURED_RUNS = 2_000;
const REPLY = { status: 200, headers: {}, body: 'x'.repeat(1_000), contentType: 'text/plain' };
/** Of what is counted, what may be used: the allocator rounds up. */
const MOST_UNCOUNTED = 1.3;

/** Each part has a server of its own. */
export async function quotas(): Promise<Figure[]> {
  return [...(await withStore(growing)), ...(await withStore(counted)), ...(await withStore(keyFlood))];
}

async function withStore(measure: (conn: RunStoreConnection) => Promise<Figure[]>): Promise<Figure[]> {
  const redis = await startRedis({ maxmemory: MAX_MEMORY });
  const conn = connectRunStore({ url: redis.url, name: 'bench' });
  try {
    await conn.ready();
    for (const project of [FLOODING, NEIGHBOUR]) await openProject(conn, project);
    await updateQuotas(conn);
    return await measure(conn);
  } finally {
    await conn.close();
    await redis.stop();
  }
}

const updateQuotas = (conn: RunStoreConnection) => setMemoryQuotas(conn, [FLOODING, NEIGHBOUR]);

/** A backlog of small events, each of which becomes a run of 500 KiB that parks and then ends. */
async function growing(conn: RunStoreConnection): Promise<Figure[]> {
  for (let count = 0; count < GROWING_RUNS; count += 1) await send(conn, FLOODING);
  const neighbour = createNeighbour(conn);
  const began = performance.now();
  let most = 0;
  for (let ended = 0; ended < GROWING_RUNS; ) {
    most = Math.max(most, (await updateQuotas(conn)).memory.used);
    const step = await stepOn(conn, FLOODING, AT_ONCE);
    ended += step.ended;
    await neighbour.send();
    if (step.parked + step.ended === 0) await passParkedTime(conn, FLOODING);
  }
  const seconds = (performance.now() - began) / 1_000;
  return [
    {
      ...of('small events that become runs of 500 KiB: most memory', most),
      ratio: ofMaximum(most),
      goal: belowMaximum,
    },
    {
      name: "runs that ended, of a backlog that is eight times as large as the store's room for it",
      value: GROWING_RUNS / seconds,
      unit: 'runs/s',
    },
    ...neighbour.figures('beside them'),
  ];
}

/** What is counted of ended runs, and what the server holds of them. */
async function counted(conn: RunStoreConnection): Promise<Figure[]> {
  const unlimited = { quota: MAX_MEMORY, keyQuota: MAX_MEMORY };
  await setQuotas(conn, FLOODING, unlimited);
  const figures: Figure[] = [];
  const measured = async (
    name: string,
    kind: 'keys' | 'summaries' | 'replies',
    key: boolean,
    step: Advance,
  ) => {
    const before = await usedOf(conn);
    await execute(conn, MEASURED_RUNS, key, step);
    const after = await usedOf(conn);
    const others = (['keys', 'summaries', 'replies'] as const).filter((other) => other !== kind);
    const rest = others.reduce((sum, other) => sum + after.use[other] - before.use[other], 0);
    const [bytes, expected] = [after.used - before.used - rest, after.use[kind] - before.use[kind]];
    figures.push({
      ...of(`a ${name} takes`, bytes / MEASURED_RUNS, 'bytes'),
      ratio: { to: 'what is counted', value: bytes / expected },
      goal: { at: 'most', value: MOST_UNCOUNTED, of: 'ratio' },
    });
  };
  await execute(conn, 100, false, END);
  await measured('summary', 'summaries', false, END);
  await measured('dedupe key', 'keys', true, END);
  await measured('reply of 1,000 bytes', 'replies', true, { reply: REPLY, ...END });
  return figures;
}

const END: Advance = { end: { phase: 'Succeeded' } };

/**
 * Events with keys, until they are refused: what they hold for a week, and whether a neighbour is refused,
 * too.
 */
async function keyFlood(conn: RunStoreConnection): Promise<Figure[]> {
  const neighbour = createNeighbour(conn);
  let keys = 0;
  for (let isFull = false; !isFull; ) {
    await updateQuotas(conn);
    const outcomes = await Promise.all(Array.from({ length: 500 }, () => send(conn, FLOODING, true)));
    isFull = outcomes.includes('unavailable') && (await isAtLimit(conn));
    keys += outcomes.filter((outcome) => outcome === 'accepted').length;
    await endAll(conn, FLOODING, END);
    await neighbour.send();
  }
  const { uses, memory } = await updateQuotas(conn);
  const used = uses[0]?.keys ?? 0;
  return [
    { name: 'dedupe keys that one project can keep', value: keys, unit: 'keys' },
    {
      ...of('what they are counted as', used),
      ratio: ofMaximum(used),
      goal: { at: 'most', value: 0.31, of: 'ratio' },
    },
    {
      ...of('most memory beside them', memory.used),
      ratio: ofMaximum(memory.used),
      goal: { at: 'most', value: 0.6, of: 'ratio' },
    },
    ...neighbour.figures('beside that flood'),
  ];
}

/** Whether another update would not give it more. */
async function isAtLimit(conn: RunStoreConnection): Promise<boolean> {
  const { uses } = await updateQuotas(conn);
  const [{ keys, keyQuota } = { keys: 0, keyQuota: 0 }] = uses;
  return keyQuota - keys < LEFT_BYTES;
}

let sent = 0;

function submission(project: string, key: boolean): Submission {
  sent += 1;
  return {
    project,
    workflow: 'orders',
    workflowUid: '5f0d7f0e-6a5b-4c0e-9d55-0d8e7a5b3c11',
    revision: 'orders-1',
    trigger: 'webhook',
    input: '{"text_content":"","data_content":{"n":1}}',
    bodyHash: 'f'.repeat(64),
    test: false,
    ...(key && { dedupeKey: `delivery-${sent}` }),
  };
}

async function send(conn: RunStoreConnection, project: string, key = false): Promise<string> {
  return (await submit(conn, submission(project, key))).outcome;
}

async function execute(conn: RunStoreConnection, total: number, key: boolean, step: Advance): Promise<void> {
  for (let count = 0; count < total; count += 100) {
    await Promise.all(Array.from({ length: 100 }, () => send(conn, FLOODING, key)));
    await endAll(conn, FLOODING, step);
  }
}

async function endAll(conn: RunStoreConnection, project: string, step: Advance): Promise<void> {
  for (;;) {
    const outcome = await claimRuns(conn, { project, runner: 'bench', max: 100 });
    if (outcome.outcome !== 'claimed') throw new Error(`not claimed: ${JSON.stringify(outcome)}`);
    if (outcome.claims.length === 0) return;
    await Promise.all(outcome.claims.map((claim) => endRecorded(conn, claim, step)));
  }
}

/** Sends one event at a time, with a key, and executes it. */
function createNeighbour(conn: RunStoreConnection) {
  const times: number[] = [];
  let refused = 0;
  return {
    send: async () => {
      const began = performance.now();
      if ((await send(conn, NEIGHBOUR, true)) !== 'accepted') refused += 1;
      times.push(performance.now() - began);
      await endAll(conn, NEIGHBOUR, END);
    },
    figures: (when: string): Figure[] => [
      {
        ...of(`events of a neighbour that are refused ${when}`, refused, 'events'),
        goal: { at: 'most', value: 0, of: 'value' },
      },
      of(
        `a neighbour's event accepted ${when}, p99`,
        times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0,
        'ms',
      ),
    ],
  };
}

async function usedOf(conn: RunStoreConnection): Promise<{ used: number; use: Use }> {
  const { memory, uses } = await updateQuotas(conn);
  const [use] = uses;
  if (!use) throw new Error('the use cannot be read');
  return { used: memory.used, use };
}

const ofMaximum = (bytes: number) => ({ to: 'maxmemory', value: bytes / MAX_MEMORY });
const belowMaximum = { at: 'most', value: 1, of: 'ratio' } as const;

function of(name: string, value: number, unit = 'MiB'): Figure {
  return { name, value: unit === 'MiB' ? value / 2 ** 20 : value, unit };
}
