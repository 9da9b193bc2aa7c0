/**
 * A backlog of runs that have not ended, of every kind: ready, over the limit of their workflow, parked,
 * executed, and made as objects.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { workflowRuns, workflows } from '../../operator/shared/resources.ts';
import { advance } from '../../runs/advance.ts';
import { sendPulse } from '../../runs/pulse.ts';
import { watchCancels } from '../../runs/cancel.ts';
import { claimRuns } from '../../runs/claim.ts';
import { keysOf } from '../../store/keys.ts';
import { setWorkflowLimits } from '../../runs/limits.ts';
import type { ClaimRef } from '../../runs/types/claim.ts';
import { pollUntil } from '../support/time/poll.ts';
import { inParallel } from './inParallel.ts';
import { submitOne } from './neighbour.ts';
import type { Project, Whole } from './whole.ts';

const AT_ONCE = 200;
const CLAIMED_AT_ONCE = 50;
const PARKED_MS = 3_600_000;
const BEAT_MS = 2_000;
const RUNNER = 'bench';
const PARKED = { id: 'sum', phase: 'Waiting', attempts: 1, reason: 'UpstreamError' } as const;

/** `stop` ends what executes the runs that are claimed: it ends each as soon as it is asked to. */
export type Backlog = { workflowUid: string; stop: () => Promise<void> };

type Wanted = { project: Project; name: string; runs: number; objects: number };

/**
 * Half of the runs are over the limit of their workflow, a twentieth is parked, fifty are executed, `objects`
 * are made as WorkflowRuns; the rest is ready. There must be no runners.
 */
export async function loadUnfinishedRuns(
  whole: Whole,
  { project, name, runs, objects }: Wanted,
): Promise<Backlog> {
  const { client, conn } = whole;
  const { namespace, uid } = project;
  const { metadata, status } = await client.get(workflows, { namespace, name });
  const workflow = {
    project: uid,
    name,
    workflowUid: metadata.uid ?? '',
    revision: status?.revision ?? '',
  };
  await setWorkflowLimits(conn, uid, {
    workflowUid: workflow.workflowUid,
    concurrency: Math.ceil(runs / 2),
    policy: 'Queue',
    deadlineMs: 3_600_000,
  });
  await inParallel(runs - objects, AT_ONCE, () => submitOne(conn, workflow));
  await park(whole, uid, Math.ceil(runs / 20));
  const executed = await execute(whole, uid);
  await inParallel(objects, 16, async (index) => {
    const run = { metadata: { namespace, name: `${name}-by-hand-${index}` }, spec: { workflow: name } };
    await client.create(workflowRuns, run);
  });
  await pollUntil(
    'all runs being accepted',
    async () => ((await conn.command('zcard', keysOf(uid).runs(workflow.workflowUid))) as number) >= runs,
    { timeoutMs: 300_000, everyMs: 500 },
  );
  return { workflowUid: workflow.workflowUid, stop: executed.stop };
}

async function claim({ conn }: Whole, project: string): Promise<ClaimRef[]> {
  const claimed = await claimRuns(conn, { project, runner: RUNNER, max: CLAIMED_AT_ONCE });
  if (claimed.outcome !== 'claimed') throw new Error('The run store is away.');
  return claimed.claims.map(({ token, state }) => ({ project, run: state.run, token }));
}

async function park(whole: Whole, project: string, count: number): Promise<void> {
  for (let done = 0; done < count; ) {
    const refs = await claim(whole, project);
    await Promise.all(
      refs.map((ref) => advance(whole.conn, ref, { checkpoints: [PARKED], parkMs: PARKED_MS })),
    );
    done += refs.length;
  }
}

/** Holds runs as a runner does that waits for an answer, and ends those that shall be cancelled. */
async function execute(whole: Whole, project: string): Promise<{ stop: () => Promise<void> }> {
  const { conn } = whole;
  const inFlight = new Map((await claim(whole, project)).map((ref) => [ref.run, ref]));
  const stopping = new AbortController();
  const onCancel = (run: string): void => {
    const ref = inFlight.get(run);
    if (!ref) return;
    inFlight.delete(run);
    void advance(conn, ref, { end: { phase: 'Cancelled' } });
  };
  const cancels = watchCancels(conn, project, onCancel, { signal: stopping.signal });
  const beating = (async () => {
    while (!stopping.signal.aborted) {
      await sendPulse(conn, project, RUNNER);
      await delay(BEAT_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  })();
  return {
    stop: async () => {
      stopping.abort();
      await Promise.all([beating, cancels]);
    },
  };
}
