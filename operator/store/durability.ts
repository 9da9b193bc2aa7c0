/**
 * Tells how durable the run store is, as far as the server shows it: in the log, and as a metric. An
 * administrator set up an existing Redis or a managed service, and the operator may not read its settings.
 */
import { untilBeat } from '../../kube/beat.ts';
import { isUnavailable } from '../../store/connection.ts';
import { readDurability, type DurabilityProblem } from '../../store/durability.ts';
import type { OperatorContext } from '../shared/context.ts';
import type { StoreMetrics } from './metrics.ts';

const EVERY_MS = 30_000;
/** While the run store does not answer. */
const RETRY_MS = 2_000;

/** Reads it every 30 seconds until the signal is aborted, and logs what changed. */
export async function watchDurability(
  { conn, log, clock }: Pick<OperatorContext, 'conn' | 'log' | 'clock'>,
  metrics: Pick<StoreMetrics, 'durability'>,
  signal: AbortSignal,
): Promise<void> {
  let told: readonly DurabilityProblem[] = [];
  while (!signal.aborted) {
    const problems = await readDurability(conn);
    if (!isUnavailable(problems)) {
      metrics.durability(problems);
      if (problems.join() !== told.join()) {
        if (problems.length > 0) log.warn({ problems }, 'run store may lose confirmed data');
        else log.info({}, 'run store keeps confirmed data');
      }
      told = problems;
    }
    await untilBeat(isUnavailable(problems) ? RETRY_MS : EVERY_MS, signal, clock);
  }
}
