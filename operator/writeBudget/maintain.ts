/**
 * Maintains the shares of the write budget in the run store while this operator leads. It remembers nothing
 * for long: shares that another operator, or a store that lost its data, left are corrected by the next
 * update; those of sleeping projects, which record nothing, within ten minutes, or when they wake.
 */
import { untilBeat } from '../../kube/beat.ts';
import { isUnavailable } from '../../store/connection.ts';
import type { ProjectUid } from '../../store/keys.ts';
import { setWriteBudget } from '../../runs/limits.ts';
import { readDemands, type Demand } from '../../runs/survey.ts';
import type { OperatorContext } from '../shared/context.ts';
import { followRoutedProjects } from '../store/routedProjects.ts';
import { splitWriteBudget } from './split.ts';

const EVERY_MS = 2_000;
/** So long the reading of a project without demand holds while its runners sleep. */
const ASLEEP_MS = 600_000;

type WriteBudgetContext = Pick<OperatorContext, 'conn' | 'log' | 'clock'> & {
  caches: { routes: Pick<OperatorContext['caches']['routes'], 'list' | 'onChange'> };
  config: Pick<OperatorContext['config'], 'RECORD_WRITES_PER_SECOND' | 'PROJECT_RECORD_WRITES_PER_SECOND'>;
  /** By namespace. */
  scaling: { asleep: ReadonlyMap<string, boolean> };
};

/** Namespaces by project. */
type Projects = ReadonlyMap<ProjectUid, string>;
type Demands = Map<ProjectUid, Demand>;

/** Splits the budget every two seconds until the signal is aborted. */
export async function maintainWriteBudget(context: WriteBudgetContext, signal: AbortSignal): Promise<void> {
  const followed = followRoutedProjects(context.caches.routes);
  const readAll = createDemandReader(context);
  /** The projects of the last split, if all of it was stored. */
  let settled: Projects | undefined;
  while (!signal.aborted) {
    try {
      const projects = followed.namespaces();
      const { demands, isOther } = await readAll(projects);
      const isDue = isOther || settled !== projects;
      if (demands && isDue) settled = (await updateShares(context, demands)) ? projects : undefined;
    } catch (error) {
      settled = undefined;
      context.log.error({ err: error }, 'cannot split the write budget');
    }
    await untilBeat(EVERY_MS, signal, context.clock);
  }
  followed.end();
}

/**
 * Each call reads the demands of the projects, but not those that rest; undefined while the run store is
 * away. `isOther`: another split may be due than after the last call.
 */
function createDemandReader({
  conn,
  clock,
  scaling,
}: Pick<WriteBudgetContext, 'conn' | 'clock' | 'scaling'>) {
  /** As they were read last, with the rates that were stored since. */
  const known: Demands = new Map();
  let allReadAt = -Infinity;

  function isAtRest(project: ProjectUid, namespace: string): boolean {
    return known.get(project)?.waiting === 0 && scaling.asleep.get(namespace) === true;
  }

  /** Whether the project has another demand than before, or another rate than was stored. */
  function note(project: ProjectUid, now: Demand | undefined): boolean {
    const before = known.get(project);
    if (before?.rate === now?.rate && isBusy(before) === isBusy(now)) return false;
    if (now) known.set(project, now);
    else known.delete(project);
    return true;
  }

  return async (projects: Projects): Promise<{ demands?: Demands; isOther: boolean }> => {
    const isOld = clock.now() - allReadAt >= ASLEEP_MS;
    const due: ProjectUid[] = [];
    for (const [project, namespace] of projects)
      if (isOld || !isAtRest(project, namespace)) due.push(project);
    const read = await readDemands(conn, due);
    if (isUnavailable(read)) return { isOther: false };
    if (isOld) allReadAt = clock.now();
    const others = due.filter((project) => note(project, read.get(project)));
    for (const project of known.keys()) if (!projects.has(project)) known.delete(project);
    return { demands: known, isOther: others.length > 0 };
  };
}

function isBusy(demand: Demand | undefined): boolean {
  return demand !== undefined && demand.waiting > 0;
}

/** Whether all of them were stored. */
async function updateShares({ conn, config }: WriteBudgetContext, demands: Demands): Promise<boolean> {
  const { RECORD_WRITES_PER_SECOND: total, PROJECT_RECORD_WRITES_PER_SECOND: perProject } = config;
  const changes = [...splitWriteBudget(demands, { total, perProject })]
    .flatMap(([project, rate]) => {
      const demand = demands.get(project);
      return demand ? [{ project, rate, demand, by: rate - demand.rate }] : [];
    })
    .filter(({ by }) => by !== 0);
  let areStored = true;
  // Shares are reduced before others are raised, so that the sum never exceeds the budget.
  for (const given of [false, true]) {
    const part = changes.filter(({ by }) => by > 0 === given);
    await Promise.all(
      part.map(async ({ project, rate, demand }) => {
        if (isUnavailable(await setWriteBudget(conn, project, rate))) areStored = false;
        // It is not read again at once.
        else demand.rate = rate;
      }),
    );
  }
  return areStored;
}
