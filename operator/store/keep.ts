/** What an operator that leads does about the run store again and again: quotas, and sweeping out what belongs to nothing. */
import { sleep } from '../../kube/clock.ts';
import { isUnavailable } from '../../runs/connection.ts';
import { readMemory, readUse } from '../../runs/memory.ts';
import { setQuota } from '../../runs/project.ts';
import type { OperatorContext } from '../context.ts';
import { quotaOf } from './quota.ts';
import { sweepStore } from './sweep.ts';

const QUOTA_EVERY_MS = 5_000;
const SWEEP_EVERY_MS = 600_000;
/** After each page: a sweep of a million keys takes minutes, and nobody notices it. */
const PAUSE_MS = 20;
/** A change of less is not worth a write. */
const WORTH = 0.05;

/** Keeps the run store until the signal is aborted. */
export async function keepStore(context: OperatorContext, signal: AbortSignal): Promise<void> {
  const { clock, log } = context;
  const every = async (ms: number, work: () => Promise<void>): Promise<void> => {
    while (!signal.aborted) {
      await work().catch((error: unknown) =>
        log.warn({ err: error }, 'the run store could not be looked after'),
      );
      await sleep(ms, signal, clock);
    }
  };
  const pause = (): Promise<void> => sleep(PAUSE_MS, signal, clock);
  await Promise.all([
    every(QUOTA_EVERY_MS, () => setQuotas(context)),
    every(SWEEP_EVERY_MS, () => sweepStore(context, pause)),
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
