/**
 * `GET /projects/{namespace}/usage`: what the agents of a project used on a day, for callers who may `list`
 * WorkflowRuns in its namespace. Unlike the sum over workflows, it keeps what deleted workflows used.
 */
import type { FastifyInstance } from 'fastify';
import type { ProjectUsage } from '../../api/usage.ts';
import { readDayUsage } from '../../runs/budget.ts';
import { latestUsage } from '../../runs/dayUsage.ts';
import { OPERATIONS } from '../contract/operations.ts';
import type { ProblemCode } from '../contract/problems.ts';
import type { Admitted } from '../endpoint/admit.ts';
import type { GatewayDeps } from '../endpoint/deps.ts';
import { addEndpoints } from '../endpoint/route.ts';
import { createAnswers, JSON_TYPE } from '../http/answers.ts';

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
  const found = await readDayUsage(runs, project);
  if (found && 'outcome' in found) return 'run-unavailable';
  const usage = latestUsage(found ? [found] : []);
  return usage ? { usage } : {};
}
