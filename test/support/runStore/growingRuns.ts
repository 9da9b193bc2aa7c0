/**
 * A project whose small events become large runs: each produces 500 KiB, waits, and ends when it is due.
 * Runner, recorder and the operator's update of the quotas, one step at a time, with the functions that these
 * programs call.
 */
import { quotasOf } from '../../../operator/store/quota.ts';
import { advance } from '../../../runs/advance.ts';
import { claimRuns } from '../../../runs/claim.ts';
import { isUnavailable, type RunStoreConnection } from '../../../store/connection.ts';
import { wakeDue } from '../../../runs/due.ts';
import { keysOf } from '../../../store/keys.ts';
import { readServerMemory, readUse, type ServerMemory, type Use } from '../../../runs/storeUse.ts';
import { setQuotas } from '../../../runs/limits.ts';
import { readRun } from '../../../runs/read.ts';
import { recorded } from '../../../runs/record/recorded.ts';
import type { Advance } from '../../../runs/types/advance.ts';
import type { Claim, ClaimRef } from '../../../runs/types/claim.ts';

const OUTPUT = 'x'.repeat(500 * 1024);
const PARK_MS = 60_000;
const GROW_AND_PARK: Advance = {
  checkpoints: [
    { id: 'fetch', phase: 'Succeeded', attempts: 1, output: { text_content: OUTPUT, data_content: null } },
    { id: 'call', phase: 'Waiting', attempts: 1 },
  ],
  waits: [{ id: 'call', delayMs: PARK_MS }],
  parkMs: PARK_MS,
};

/** What the operator does every five seconds. */
export async function setMemoryQuotas(
  conn: RunStoreConnection,
  projects: string[],
): Promise<{ memory: ServerMemory; uses: Use[] }> {
  const servers = await readServerMemory(conn);
  const memory = isUnavailable(servers) ? undefined : servers.get('');
  if (!memory) throw new Error('the memory cannot be read');
  const uses = await Promise.all(
    projects.map(async (project) => {
      const use = await readUse(conn, project);
      if (!use || isUnavailable(use)) throw new Error('the use cannot be read');
      return use;
    }),
  );
  for (const [index, quotas] of quotasOf(memory, uses).entries())
    await setQuotas(conn, projects[index] ?? '', quotas);
  return { memory, uses };
}

/**
 * Claims once and takes each run one step on; answers with how many parked and ended, and whether claims were
 * paused.
 */
export async function stepOn(
  conn: RunStoreConnection,
  project: string,
  max: number,
): Promise<{ parked: number; ended: number; short: boolean }> {
  const outcome = await claimRuns(conn, { project, runner: 'runner-1', max });
  if (outcome.outcome !== 'claimed') throw new Error(`not claimed: ${JSON.stringify(outcome)}`);
  const ends = await Promise.all(outcome.claims.map((claim) => oneStep(conn, claim)));
  const ended = ends.filter((end) => end === 'ended').length;
  return { parked: ends.length - ended, ended, short: outcome.short };
}

async function oneStep(conn: RunStoreConnection, claim: Claim): Promise<'parked' | 'ended'> {
  const isNew = claim.state.nodes.length === 0;
  if (isNew) await advance(conn, refOf(claim), GROW_AND_PARK);
  else await endRecorded(conn, claim, { end: { phase: 'Succeeded' } });
  return isNew ? 'parked' : 'ended';
}

/** Ends a run that was claimed, as recorded, and removes it, as ten seconds do. */
export async function endRecorded(conn: RunStoreConnection, claim: Claim, step: Advance): Promise<void> {
  const { project, run } = claim.state;
  await advance(conn, refOf(claim), step);
  const state = await readRun(conn, project, run);
  if (!state || isUnavailable(state)) throw new Error(`run ${run} cannot be read`);
  await recorded(conn, state, 'written');
  await conn.command('unlink', keysOf(project).run(run), keysOf(project).events(run));
}

function refOf({ token, state: { project, run } }: Claim): ClaimRef {
  return { project, run, token };
}

/** Makes due now what is parked, as if its time had passed. */
export async function passParkedTime(conn: RunStoreConnection, project: string): Promise<void> {
  const { parked } = keysOf(project);
  const entries = (await conn.command('zrange', parked, 0, -1)) as string[];
  if (entries.length > 0) await conn.command('zadd', parked, ...entries.flatMap((entry) => [0, entry]));
  await wakeDue(conn, project);
}
