/**
 * `GET /workflows/{id}/runs`: the runs of a workflow, newest first, for callers who may `list` WorkflowRuns
 * in its namespace. Merges the run store's runs, records and summaries; each run is listed once.
 */
import type { FastifyInstance } from 'fastify';
import { workflowId } from '../../api/group.ts';
import type { RunItem, RunPage } from '../../api/runView.ts';
import { isUnavailable } from '../../store/connection.ts';
import { byNewest, knownRuns, listRuns, type ListedRun, type Position } from '../../runs/list.ts';
import { createAnswers, JSON_TYPE, type Answers, type Exchange } from '../http/answers.ts';
import { OPERATIONS } from '../contract/operations.ts';
import type { GatewayDeps } from '../endpoint/deps.ts';
import type { ProblemCode } from '../contract/problems.ts';
import type { Route } from '../routing/table.ts';
import type { Addressed, Admitted } from '../endpoint/admit.ts';
import { positionToken, readListQuery, type ListQuery } from '../contract/queries.ts';
import type { ListedRecord } from '../endpoint/records.ts';
import { TooOften } from '../access/reviewLimit.ts';
import { time, viewListed } from './runView.ts';
import { addEndpoints } from '../endpoint/route.ts';

/** A run and its position in the order. */
type Placed = { at: Position; item: RunItem };

/** How many runs one request reads if few of them have the requested phase. */
const MAX_RUNS_READ = 2_000;
const FILTERED_CHUNK = 200;
/** The position of runs that the run store has not accepted yet: before all others. */
const NOT_YET = Number.MAX_SAFE_INTEGER;

export function addRunListRoute(app: FastifyInstance, deps: GatewayDeps): void {
  const answers = createAnswers(deps, 'run');
  addEndpoints(app, deps, answers, [
    {
      operation: OPERATIONS.listRuns,
      handleAdmitted: (exchange, admitted) => answerList(deps, answers, exchange, admitted),
    },
  ]);
}

async function answerList(
  deps: GatewayDeps,
  answers: Answers,
  { request, reply }: Exchange,
  admitted: Admitted,
): Promise<void> {
  const query = readListQuery(request.query);
  const page = query === undefined ? 'bad-query' : await readPage(deps, admitted, query);
  if (typeof page === 'string') return answers.problem(reply, page);
  reply.header('cache-control', 'no-store');
  answers.send(reply, 200, JSON_TYPE, JSON.stringify(page));
}

async function readPage(
  deps: GatewayDeps,
  { namespace, name: workflow }: Addressed,
  query: ListQuery,
): Promise<RunPage | ProblemCode> {
  const route = deps.routes.workflow(workflowId(namespace, workflow));
  const source = createSource(deps, route, { namespace, name: workflow });
  try {
    const page = await fillPage(source, query);
    if (route !== undefined || page.items.length > 0) return page;
    return deps.health.synced() ? 'workflow-unknown' : 'not-ready';
  } catch (error) {
    if (error instanceof TooOften) return 'too-many-calls';
    if (!(error instanceof SourceUnavailable)) deps.log.warn({ err: error }, 'listing runs failed');
    return 'run-unavailable';
  }
}

async function fillPage(source: Source, { limit, phase, after }: ListQuery): Promise<RunPage> {
  const chunk = phase === undefined ? limit : FILTERED_CHUNK;
  const items: RunItem[] = [];
  let position = after;
  for (let runsRead = 0; runsRead < MAX_RUNS_READ; runsRead += chunk) {
    const { runs, isLast } = await source.next(position, chunk);
    for (const [index, { at, item }] of runs.entries()) {
      position = at;
      if (phase === undefined || item.phase === phase) items.push(item);
      const isEnd = isLast && index === runs.length - 1;
      if (items.length === limit) return { items, ...(!isEnd && { continue: positionToken(at) }) };
    }
    if (isLast) return { items };
  }
  return { items, ...(position && { continue: positionToken(position) }) };
}

type Source = {
  /** The runs after the position: at least `chunk`, unless they are the last. */
  next(after: Position | undefined, chunk: number): Promise<{ runs: Placed[]; isLast: boolean }>;
};

/** The run store does not answer. Its connection has logged that. */
class SourceUnavailable extends Error {}

/** Merges the run store's runs with records. Throws if either cannot be read. */
function createSource(
  deps: GatewayDeps,
  route: Route | undefined,
  { namespace, name: workflow }: Addressed,
): Source {
  let records: Promise<Records> | undefined;

  async function stored(after: Position | undefined, limit: number): Promise<ListedRun[]> {
    if (route === undefined) return [];
    const { projectUID, workflowUID } = route.spec;
    return orThrow(await listRuns(deps.runs, projectUID, workflowUID, { after, limit }));
  }

  /** Keeps the records of runs that the run store does not have. */
  async function notStored(placed: Placed[]): Promise<Placed[]> {
    if (route === undefined) return placed;
    const { projectUID, workflowUID } = route.spec;
    const names = placed.map(({ at }) => at.run);
    const known = orThrow(await knownRuns(deps.runs, projectUID, workflowUID, names));
    return placed.filter(({ at }) => !known.has(at.run));
  }

  return {
    next: async (after, chunk) => {
      const runs = await stored(after, chunk);
      // Read after the run store: a run that has just left it has a record.
      records ??= readRecords(deps, { namespace, name: workflow });
      const { names, placed } = await records;
      const isLast = runs.length < chunk;
      const end = isLast ? undefined : runs.at(-1)?.position;
      const between = placed.filter(({ at }) => isBetween(at, after, end));
      const own = runs.map((run) => ({
        at: run.position,
        item: {
          ...viewListed(namespace, run),
          ...(run.isSummary && !names.has(run.run) && { summary: true as const }),
        },
      }));
      const all = [...own, ...(await notStored(between))];
      return { runs: all.toSorted((a, b) => byNewest(a.at, b.at)), isLast };
    },
  };
}

function isBetween(at: Position, after: Position | undefined, end: Position | undefined): boolean {
  return (after === undefined || byNewest(after, at) < 0) && (end === undefined || byNewest(at, end) < 0);
}

type Records = { names: Set<string>; placed: Placed[] };

async function readRecords(
  { records }: GatewayDeps,
  { namespace, name: workflow }: Addressed,
): Promise<Records> {
  const listed = await records.of(namespace, workflow);
  return {
    names: new Set(listed.map(({ run }) => run)),
    placed: listed.map((record) => placeOf(namespace, workflow, record)),
  };
}

function placeOf(namespace: string, workflow: string, record: ListedRecord): Placed {
  const { run, phase, trigger, test, requestedBy, acceptedAt, startedAt, endedAt, reason, message } = record;
  const item = {
    run,
    workflow: workflowId(namespace, workflow),
    phase,
    trigger,
    test,
    requestedBy,
    acceptedTime: time(acceptedAt),
    startTime: time(startedAt),
    completionTime: time(endedAt),
    reason,
    message,
  };
  const knownAt = acceptedAt ?? endedAt;
  return { at: { at: knownAt === undefined ? NOT_YET : knownAt * 1_000, run }, item };
}

function orThrow<T>(answer: T): Exclude<T, { outcome: 'unavailable' }> {
  if (isUnavailable(answer)) throw new SourceUnavailable('the run store does not answer');
  return answer as Exclude<T, { outcome: 'unavailable' }>;
}
