/**
 * `GET /projects/{namespace}/usage`: what the agents of a project used on a day, for callers who may `list`
 * WorkflowRuns in its namespace. Unlike the sum over workflows, it keeps what deleted workflows used.
 */
import type { FastifyInstance } from 'fastify';
import type { ProjectUsage, WorkflowUsage } from '../../api/usage.ts';
import { readProjectUsage, type ProjectDayUsage } from '../../runs/budget.ts';
import { latestUsage } from '../../runs/dayUsage.ts';
import { groupsOf, workflowOfGroup } from '../../store/groups.ts';
import { OPERATIONS } from '../contract/operations.ts';
import type { ProblemCode } from '../contract/problems.ts';
import type { Admitted } from '../endpoint/admit.ts';
import type { GatewayDeps } from '../endpoint/deps.ts';
import { addEndpoints } from '../endpoint/route.ts';
import { createAnswers, JSON_TYPE } from '../http/answers.ts';
import type { RouteTable } from '../routing/table.ts';

export function addUsageRoute(app: FastifyInstance, deps: GatewayDeps): void {
  const answers = createAnswers(deps, 'run');
  addEndpoints(app, deps, answers, [
    {
      operation: OPERATIONS.readUsage,
      handleAdmitted: async ({ reply }, admitted) => {
        const usage = await usageOf(deps, admitted);
        if (typeof usage === 'string') return answers.problem(reply, usage);
        reply.header('cache-control', 'no-store');
        answers.send(reply, 200, JSON_TYPE, JSON.stringify(usage));
      },
    },
  ]);
}

async function usageOf(
  { routes, runs, health }: GatewayDeps,
  { namespace }: Admitted,
): Promise<ProjectUsage | ProblemCode> {
  const project = routes.project(namespace);
  if (project === undefined) return health.synced() ? {} : 'not-ready';
  const found = await readProjectUsage(runs, project);
  if ('outcome' in found) return 'run-unavailable';
  const usage = latestUsage(found.project ? [found.project] : []);
  return usage ? { usage, workflows: usageByWorkflow(routes, found) } : {};
}

/** What each served workflow used on the project's last day, by ID. */
function usageByWorkflow(
  routes: Pick<RouteTable, 'workflowOfUid'>,
  { project, groups }: ProjectDayUsage,
): WorkflowUsage[] {
  const uids = new Set([...groups.keys()].map(workflowOfGroup));
  const used = [...uids].flatMap((uid) => {
    const workflow = routes.workflowOfUid(uid)?.id;
    const today = groupsOf(uid)
      .flatMap((group) => groups.get(group) ?? [])
      .filter(({ day }) => day === project?.day);
    const usage = latestUsage(today);
    if (workflow === undefined || usage === undefined) return [];
    const { date: _date, ...rest } = usage;
    return [{ workflow, ...rest }];
  });
  return used.toSorted((one, other) => (one.workflow < other.workflow ? -1 : 1));
}
