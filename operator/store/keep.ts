/** What an operator that leads does about the run store again and again: quotas, and sweeping out what belongs to nothing. */
import { sleep } from '../../kube/clock.ts';
import { isUnavailable } from '../../runs/connection.ts';
import { readMemory, readUse } from '../../runs/memory.ts';
import { setQuota } from '../../runs/project.ts';
import type { OperatorContext } from '../context.ts';
import { quotaOf } from './quota.ts';
import { createSweeper } from './sweep.ts';

const QUOTA_EVERY_MS = 5_000;
const SWEEP_EVERY_MS = 600_000;
/** After a sweep that did not come to its end: an operator may begin before the run store can be reached. */
const SWEEP_AGAIN_MS = 5_000;
/** After each page: a sweep of a million keys takes minutes, and nobody notices it. */
const PAUSE_MS = 20;
/** A change of less is not worth a write. */
const WORTH = 0.05;

/** Keeps the run store until the signal is aborted. */
export async function keepStore(context: OperatorContext, signal: AbortSignal): Promise<void> {
  const { clock, log } = context;
  const repeat = async (againMs: number, work: () => Promise<number>): Promise<void> => {
    while (!signal.aborted) {
      const ms = await work().catch((error: unknown) => {
        log.warn({ err: error }, 'the run store could not be looked after');
        return againMs;
      });
      await sleep(ms, signal, clock);
    }
  };
  const sweeper = createSweeper(context);
  const pause = (): Promise<void> => sleep(PAUSE_MS, signal, clock);
  await Promise.all([
    repeat(QUOTA_EVERY_MS, () => setQuotas(context).then(() => QUOTA_EVERY_MS)),
    repeat(SWEEP_AGAIN_MS, async () => ((await sweeper.sweep(pause)) ? SWEEP_EVERY_MS : SWEEP_AGAIN_MS)),
  ]);
}

/** Gives every project that is open its quota, by what is free now. */
async function setQuotas({ conn, world }: Pick<OperatorContext, 'conn' | 'world'>): Promise<void> {
  const memory = await readMemory(conn);
  if (isUnavailable(memory)) return;
  const uids = world.namespaces.list().flatMap(({ metadata: { uid } }) => (uid === undefined ? [] : [uid]));
  const uses = await Promise.all(uids.map(async (uid) => ({ uid, use: await readUse(conn, uid) })));
  const open = uses.flatMap(({ uid, use }) => (use && !isUnavailable(use) ? [{ uid, ...use }] : []));
  for (const { uid, bytes, quota } of open) {
    const next = quotaOf(memory, bytes, open.length);
    if (Math.abs(next - quota) > quota * WORTH) await setQuota(conn, uid, next);
  }
}
