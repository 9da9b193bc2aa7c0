/**
 * Maintains the shares of the write budget in the run store while this operator leads. It remembers nothing:
 * shares that another operator, or a store that lost its data, left are corrected by the next update.
 */
import { sleep } from '../../kube/clock.ts';
import { isUnavailable, type Unavailable } from '../../store/connection.ts';
import { setWriteBudget } from '../../runs/limits.ts';
import { readDemands } from '../../runs/survey.ts';
import type { OperatorContext } from '../shared/context.ts';
import { splitWriteBudget } from './split.ts';

const EVERY_MS = 2_000;
/** So long the reading of a project without demand holds while its runners sleep. */
const ASLEEP_MS = 60_000;

type WriteBudgetContext = Pick<OperatorContext, 'caches' | 'conn' | 'config' | 'log' | 'clock'> & {
  /** By namespace. */
  scaling: { asleep: ReadonlyMap<string, boolean> };
};

/** Splits the budget every two seconds until the signal is aborted. */
export async function maintainWriteBudget(context: WriteBudgetContext, signal: AbortSignal): Promise<void> {
  const readAll = createDemandReader(context);
  while (!signal.aborted) {
    try {
      await updateShares(context, await readAll());
    } catch (error) {
      context.log.error({ err: error }, 'cannot split the write budget');
    }
    await sleep(EVERY_MS, signal, context.clock);
  }
}

type Demands = Exclude<Awaited<ReturnType<typeof readDemands>>, Unavailable>;

/** Each call reads the demands of all projects with routes; undefined while the run store is away. */
function createDemandReader({ caches, conn, clock, scaling }: WriteBudgetContext) {
  let resting: Demands = new Map();
  let readAt = -Infinity;
  return async (): Promise<Demands | undefined> => {
    const isOld = clock.now() - readAt >= ASLEEP_MS;
    const namespaces = new Map(
      caches.routes.list().map(({ spec, metadata: { namespace = '' } }) => [spec.projectUID, namespace]),
    );
    const isResting = (uid: string, namespace: string): boolean =>
      !isOld && resting.has(uid) && scaling.asleep.get(namespace) === true;
    const isAtRest = new Map([...namespaces].map((of) => [of[0], isResting(...of)]));
    const read = await readDemands(
      conn,
      [...namespaces.keys()].filter((uid) => isAtRest.get(uid) === false),
    );
    if (isUnavailable(read)) return undefined;
    if (isOld) readAt = clock.now();
    const all = [...namespaces.keys()].flatMap((uid) => {
      const demand = (isAtRest.get(uid) === true ? resting : read).get(uid);
      return demand ? [[uid, demand] as const] : [];
    });
    resting = new Map(all.filter(([, { waiting }]) => waiting === 0));
    return new Map(all);
  };
}

async function updateShares(
  { conn, config }: WriteBudgetContext,
  demands: Demands | undefined,
): Promise<void> {
  if (demands === undefined) return;
  const { RECORD_WRITES_PER_SECOND: total, PROJECT_RECORD_WRITES_PER_SECOND: perProject } = config;
  const changes = [...splitWriteBudget(demands, { total, perProject })]
    .flatMap(([project, rate]) => {
      const demand = demands.get(project);
      return demand ? [{ project, rate, demand, by: rate - demand.rate }] : [];
    })
    .filter(({ by }) => by !== 0);
  // Shares are reduced before others are raised, so that the sum never exceeds the budget.
  for (const given of [false, true]) {
    const part = changes.filter(({ by }) => by > 0 === given);
    await Promise.all(
      part.map(async ({ project, rate, demand }) => {
        // One that rests is not read again at once.
        if (!isUnavailable(await setWriteBudget(conn, project, rate))) demand.rate = rate;
      }),
    );
  }
}
