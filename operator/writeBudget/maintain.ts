/**
 * Maintains the shares of the write budget in the run store while this operator leads. It remembers nothing:
 * shares that another operator, or a store that lost its data, left are corrected by the next update.
 */
import { sleep } from '../../kube/clock.ts';
import { isUnavailable } from '../../store/connection.ts';
import { setWriteBudget } from '../../runs/limits.ts';
import { readDemands } from '../../runs/survey.ts';
import type { OperatorContext } from '../shared/context.ts';
import { splitWriteBudget } from './split.ts';

const EVERY_MS = 2_000;

type WriteBudgetContext = Pick<OperatorContext, 'caches' | 'conn' | 'config' | 'log' | 'clock'>;

/** Splits the budget every two seconds until the signal is aborted. */
export async function maintainWriteBudget(context: WriteBudgetContext, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await updateShares(context);
    } catch (error) {
      context.log.error({ err: error }, 'cannot split the write budget');
    }
    await sleep(EVERY_MS, signal, context.clock);
  }
}

async function updateShares({ caches, conn, config }: WriteBudgetContext): Promise<void> {
  const projects = new Set(caches.routes.list().map(({ spec }) => spec.projectUID));
  const demands = await readDemands(conn, [...projects]);
  if (isUnavailable(demands)) return;
  const { RECORD_WRITES_PER_SECOND: total, PROJECT_RECORD_WRITES_PER_SECOND: perProject } = config;
  const changes = [...splitWriteBudget(demands, { total, perProject })]
    .map(([project, rate]) => ({ project, rate, by: rate - (demands.get(project)?.rate ?? 0) }))
    .filter(({ by }) => by !== 0);
  // Shares are reduced before others are raised, so that the sum never exceeds the budget.
  for (const given of [false, true]) {
    const part = changes.filter(({ by }) => by > 0 === given);
    await Promise.all(part.map(({ project, rate }) => setWriteBudget(conn, project, rate)));
  }
}
