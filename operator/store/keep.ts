/** What an operator that leads does about the run store again and again: quotas, and sweeping out what belongs to nothing. */
import { sleep } from '../../kube/clock.ts';
import { isUnavailable } from '../../runs/connection.ts';
import { readMemory, readUse } from '../../runs/memory.ts';
import { setQuotas, type Quotas } from '../../runs/project.ts';
import type { OperatorContext } from '../context.ts';
import { quotasOf } from './quota.ts';
import { sweepStore } from './sweep.ts';

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
  const pause = (): Promise<void> => sleep(PAUSE_MS, signal, clock);
  await Promise.all([
    repeat(QUOTA_EVERY_MS, () => setAllQuotas(context).then(() => QUOTA_EVERY_MS)),
    repeat(SWEEP_AGAIN_MS, async () =>
      (await sweepStore(context, pause)) ? SWEEP_EVERY_MS : SWEEP_AGAIN_MS,
    ),
  ]);
}

/** Gives every project that is open its limits, by what is free now. */
async function setAllQuotas({ conn, world }: Pick<OperatorContext, 'conn' | 'world'>): Promise<void> {
  const memory = await readMemory(conn);
  if (isUnavailable(memory)) return;
  const uids = world.namespaces.list().flatMap(({ metadata: { uid } }) => (uid === undefined ? [] : [uid]));
  const uses = await Promise.all(uids.map(async (uid) => ({ uid, use: await readUse(conn, uid) })));
  const open = uses.flatMap(({ uid, use }) => (use && !isUnavailable(use) ? [{ uid, use }] : []));
  const quotas = quotasOf(
    memory,
    open.map(({ use }) => use),
  );
  for (const [index, { uid, use }] of open.entries()) {
    const next = quotas[index];
    if (next && isWorthIt(use, next)) await setQuotas(conn, uid, next);
  }
}

function isWorthIt(now: Quotas, next: Quotas): boolean {
  const changes = (['quota', 'claimQuota', 'keyQuota'] as const).map(
    (name) => Math.abs(next[name] - now[name]) / Math.max(1, now[name]),
  );
  return Math.max(...changes) > WORTH;
}
