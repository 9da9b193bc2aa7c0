/**
 * `GET /workflows/{id}/memory`: what the agents of a workflow remember, for callers who may `list`
 * WorkflowRuns in its namespace; with first prompts for those who may also `get` all of them.
 * `GET …/memory/{name}/{key}` reads one memory, for those who may `get` all of them, and `DELETE` deletes it,
 * for those who may `delete` all of them.
 */
import type { FastifyInstance } from 'fastify';
import { NODE_ID } from '../../api/graph.ts';
import { workflowId } from '../../api/group.ts';
import {
  MEMORY_FIRST_LIMIT,
  MEMORY_KEY_LIMIT_BYTES,
  type MemoryPage,
  type MemoryTurn,
  type MemoryView,
} from '../../api/memory.ts';
import { listMemories, readMemory } from '../../runs/memoryList.ts';
import { forgetMemory } from '../../runs/memoryRemoval.ts';
import { groupsOf } from '../../store/groups.ts';
import { isUnavailable } from '../../store/connection.ts';
import { OPERATIONS } from '../contract/operations.ts';
import type { ProblemCode } from '../contract/problems.ts';
import { readMemoriesQuery, readMemoryQuery } from '../contract/queries.ts';
import { callerCredentials, type Admitted } from '../endpoint/admit.ts';
import { auditResult, recordCall } from '../endpoint/audit.ts';
import type { GatewayDeps } from '../endpoint/deps.ts';
import { addEndpoints } from '../endpoint/route.ts';
import { createAnswers, JSON_TYPE, type Answers, type Exchange } from '../http/answers.ts';
import { time } from './runView.ts';

export function addMemoryRoutes(app: FastifyInstance, deps: GatewayDeps): void {
  const answers = createAnswers(deps, 'run');
  addEndpoints(app, deps, answers, [
    {
      operation: OPERATIONS.listMemories,
      handleAdmitted: async ({ request, reply }, admitted) =>
        send(answers, reply, await listOf(deps, admitted, request)),
    },
  ]);
  addEndpoints(app, deps, answers, [
    {
      operation: OPERATIONS.readMemory,
      handleAdmitted: async ({ request, reply }, admitted) =>
        send(answers, reply, await viewOf(deps, admitted, request)),
    },
    {
      operation: OPERATIONS.deleteMemory,
      handleAdmitted: (exchange, admitted) => deleteMemory(deps, answers, exchange, admitted),
    },
  ]);
}

function send(answers: Answers, reply: Exchange['reply'], body: object | ProblemCode): void {
  if (typeof body === 'string') return answers.problem(reply, body);
  reply.header('cache-control', 'no-store');
  answers.send(reply, 200, JSON_TYPE, JSON.stringify(body));
}

async function listOf(
  deps: GatewayDeps,
  admitted: Admitted,
  request: Exchange['request'],
): Promise<MemoryPage | ProblemCode> {
  const query = readMemoriesQuery(request.query);
  if (!query) return 'bad-query';
  const place = placeOf(deps, admitted);
  if (typeof place === 'string') return place;
  const inFirst = (turn: string) => query.contains !== undefined && firstOf(turn).includes(query.contains);
  const listed = await listMemories(deps.runs, place.projectUID, place.workflowUID, {
    ...query,
    ...((await mayReadTurns(deps, admitted, request)) && { inFirst }),
  });
  if (isUnavailable(listed)) return 'run-unavailable';
  const items = listed.items.map(({ usedAt, first, ...memory }) => ({
    ...memory,
    lastUsedTime: time(usedAt) ?? '',
    ...(first !== undefined && { first: firstOf(first).slice(0, MEMORY_FIRST_LIMIT) }),
  }));
  return { ...listed, items };
}

/** The list has texts of turns only for callers who may read the turns. */
async function mayReadTurns(
  deps: GatewayDeps,
  { namespace }: Admitted,
  request: Exchange['request'],
): Promise<boolean> {
  const wanted = { verb: 'get', resource: 'workflowruns', namespace, name: '' } as const;
  const { decision } = await deps.access.authorize(callerCredentials(deps, request), wanted);
  return decision === 'allowed';
}

/** The prompt of a turn; empty if it is withheld. */
function firstOf(turn: string): string {
  return turn === '' ? '' : shownTurn(turn).user;
}

async function viewOf(
  deps: GatewayDeps,
  admitted: Admitted,
  { params, query }: Pick<Exchange['request'], 'params' | 'query'>,
): Promise<MemoryView | ProblemCode> {
  const named = params as { name: string; key: string };
  const read = readMemoryQuery(query);
  if (!read) return 'bad-query';
  const place = placeOf(deps, admitted);
  if (typeof place === 'string') return place;
  const [live, test] = groupsOf(place.workflowUID);
  const found = await readMemory(deps.runs, place.projectUID, read.test ? test : live, named);
  if (found.outcome === 'unavailable') return 'run-unavailable';
  if (found.outcome === 'absent') return 'memory-unknown';
  return { name: named.name, key: named.key, turns: found.turns.map(shownTurn) };
}

/** Without the texts of a turn whose agent is sensitive, or whose data is not recorded. */
function shownTurn(text: string): MemoryTurn {
  const turn = JSON.parse(text) as MemoryTurn;
  return turn.redacted ? { ...turn, user: '', steps: [], answer: '' } : turn;
}

async function deleteMemory(
  deps: GatewayDeps,
  answers: Answers,
  { request, reply }: Exchange,
  admitted: Admitted,
): Promise<void> {
  const { namespace, name: workflow, caller } = admitted;
  const outcome = await forget(deps, admitted, request.params as { name: string; key: string });
  recordCall(deps, request.raw, {
    event: 'memory.delete',
    user: caller,
    object: { namespace, name: workflow },
    ...(outcome === undefined ? { result: 'allowed' } : auditResult(outcome)),
  });
  if (outcome !== undefined) return answers.problem(reply, outcome);
  answers.sendEmpty(reply, 204);
}

async function forget(
  deps: GatewayDeps,
  admitted: Admitted,
  { name, key }: { name: string; key: string },
): Promise<ProblemCode | undefined> {
  const place = placeOf(deps, admitted);
  if (typeof place === 'string') return place;
  // No agent can have it.
  if (!NODE_ID.test(name) || Buffer.byteLength(key) > MEMORY_KEY_LIMIT_BYTES) return 'memory-unknown';
  const done = await forgetMemory(deps.runs, place.projectUID, place.workflowUID, { name, key });
  return isUnavailable(done) ? 'run-unavailable' : undefined;
}

function placeOf(
  { routes, health }: GatewayDeps,
  { namespace, name }: Admitted,
): { projectUID: string; workflowUID: string } | ProblemCode {
  const route = routes.workflow(workflowId(namespace, name));
  if (route) return route.spec;
  return health.synced() ? 'workflow-unknown' : 'not-ready';
}
