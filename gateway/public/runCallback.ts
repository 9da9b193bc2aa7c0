/**
 * `POST /callback/{token}`: ends the wait of a node; the body becomes the output of the node. The token is
 * checked before the run store is called. The first call counts; a repetition gets the same answer. No other
 * method changes anything, because scanners of mail open links.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isSigned, readToken, type ReadToken } from '../../api/callback.ts';
import { parseJson } from '../../api/json.ts';
import { signalRun, type Signaled } from '../../runs/signals.ts';
import { readCallbackSettings, type CallbackSettings } from '../../store/callbacks.ts';
import type { RunStoreConnection } from '../../store/connection.ts';
import { routePath } from '../contract/operation.ts';
import { OPERATIONS } from '../contract/operations.ts';
import type { ProblemCode } from '../contract/problems.ts';
import type { GatewayDeps } from '../endpoint/deps.ts';
import { withReservation } from '../endpoint/jsonBody.ts';
import { createAnswers, JSON_TYPE, type Answers } from '../http/answers.ts';
import { announcedLength, readBody, refuseByHeaders } from '../http/body.ts';
import type { Reservation } from '../limits/inFlight.ts';
import type { Called } from '../limits/rates.ts';

/** The longest body, in bytes. */
const CALLBACK_BYTES = 65_536;
const RETRY_AFTER = { retryAfter: 2 };
const POST_ALONE = {
  allow: 'POST',
  more: 'Send a POST with a JSON body: it ends the wait of a run. Opening this URL changes nothing.',
};

/** Adds the route. As in `push.ts`, all checks and the handler run in one hook. */
export function addRunCallbackRoute(app: FastifyInstance, deps: GatewayDeps): void {
  const answers = createAnswers(deps, 'callback');
  const keys = createProjectKeys(deps.runs);
  app.route({
    method: app.supportedMethods,
    url: routePath(OPERATIONS.callBack),
    onRequest: (request, reply) => {
      receive({ deps, answers, keys }, { request, reply }).catch((error: unknown) =>
        answers.unexpected(reply, error),
      );
    },
    handler: () => undefined,
  });
}

type Receiving = { deps: GatewayDeps; answers: Answers; keys: ProjectKeys };
type Exchange = { request: FastifyRequest; reply: FastifyReply };

async function receive({ deps, answers, keys }: Receiving, exchange: Exchange): Promise<void> {
  const { request, reply } = exchange;
  const { raw } = request;
  const { limits } = deps;
  if (raw.method !== 'POST') return answers.refuse(reply, 'method-not-allowed', POST_ALONE);
  const token = readToken((request.params as { token?: string }).token ?? '');
  const genuine = token && (await check(deps, keys, token));
  if (token === undefined || genuine === undefined) return answers.refuse(reply, 'callback-unknown');
  if (typeof genuine === 'string') return answers.refuse(reply, genuine, RETRY_AFTER_OF[genuine]);
  const refused = refuseByHeaders(raw.headers, limits);
  if (refused === 'unsupported-media-type') return answers.problem(reply, refused);
  if ((announcedLength(raw.headers) ?? 0) > CALLBACK_BYTES)
    return answers.problem(reply, 'callback-too-large');
  if (refused !== undefined) return answers.problem(reply, refused);
  const tooMany = limits.rates.ofRoute(genuine.called, performance.now());
  if (tooMany !== undefined) {
    limits.refused[tooMany.reason] += 1;
    return answers.refuse(reply, 'too-many-requests', { retryAfter: tooMany.retryAfter });
  }
  const done = await withReservation(limits, (reservation) =>
    take({ deps, answers }, exchange, token, reservation),
  );
  if (done === 'overloaded') answers.problem(reply, 'overloaded');
}

/** Reads the body and stores it. */
async function take(
  { deps, answers }: Omit<Receiving, 'keys'>,
  { request: { raw }, reply }: Exchange,
  { project, target }: ReadToken,
  reservation: Reservation,
): Promise<void> {
  const { limits, runs } = deps;
  const body = await readBody(raw, reply.raw, {
    limit: CALLBACK_BYTES,
    queue: limits.bodyQueue,
    reservation,
  });
  if (body.outcome === 'aborted') return;
  if (body.outcome === 'too-large') return answers.problem(reply, 'callback-too-large');
  if (body.outcome !== 'read') return answers.problem(reply, body.outcome);
  const json = parseJson(body.bytes, limits.json);
  if (!json.ok) return answers.problem(reply, json.code);
  const signal = { ...target, value: `{"body":${json.text}}` };
  const hasRoom = await limits.concurrency.enter(project);
  const signaled = hasRoom
    ? await signalRun(runs, project, signal).finally(() => limits.concurrency.leave(project))
    : undefined;
  const problem = problemOf(signaled);
  if (problem !== undefined) return answers.problem(reply, problem, RETRY_AFTER_OF[problem] ?? {});
  const node = target.node.slice(target.node.lastIndexOf('/') + 1);
  answers.send(reply, 200, JSON_TYPE, JSON.stringify({ run: target.run, node, received: true }));
}

const RETRY_AFTER_OF: Partial<Record<ProblemCode, { retryAfter: number }>> = {
  'callback-unavailable': RETRY_AFTER,
  'run-store-full': RETRY_AFTER,
};

/** Undefined: the call is stored, now or before. */
function problemOf(signaled: Signaled | undefined): ProblemCode | undefined {
  switch (signaled?.outcome) {
    case 'stored':
    case 'repeated':
      return undefined;
    case 'over':
    case 'absent':
      return 'callback-over';
    case 'too-large':
      return 'callback-too-large';
    case 'full':
      return 'run-store-full';
    case 'unavailable':
    case undefined:
      return 'callback-unavailable';
  }
}

type Genuine = { called: Called };

/** Whether a key of the project has signed the token. Only projects of served workflows are asked about. */
async function check(
  { routes, health }: GatewayDeps,
  keys: ProjectKeys,
  token: ReadToken,
): Promise<Genuine | 'callback-unknown' | 'callback-unavailable' | 'not-ready'> {
  if (!routes.hasProject(token.project)) return health.synced() ? 'callback-unknown' : 'not-ready';
  const found = await keys.find(token.project, token.keyId);
  if (found.outcome === 'unavailable') return 'callback-unavailable';
  if (found.outcome === 'unknown' || !isSigned(token, found.key)) return 'callback-unknown';
  return { called: found.called };
}

type FoundKey =
  | { outcome: 'found'; key: Uint8Array; called: Called }
  | { outcome: 'unknown' }
  /** The run store does not answer, or does not have the keys: it may have lost its data. */
  | { outcome: 'unavailable' };

type ProjectKeys = { find(project: string, id: string): Promise<FoundKey> };

/** How old keys may be, and how often an ID that is unknown is looked up: forged tokens name any. */
const FRESH_MS = 600_000;
const MISSED_MS = 2_000;

type Known = { settings: CallbackSettings | undefined; readAt: number; called: Called };

/** The keys of projects, which are read from the run store when they are first needed. */
function createProjectKeys(runs: RunStoreConnection): ProjectKeys {
  const projects = new Map<string, Known>();
  const reads = new Map<string, Promise<Known>>();

  async function read(project: string): Promise<Known> {
    const before = projects.get(project);
    const found = await readCallbackSettings(runs, project);
    const known: Known = {
      settings: found.outcome === 'read' ? found.settings : before?.settings,
      readAt: performance.now(),
      called: before?.called ?? { spec: { projectUID: project } },
    };
    projects.set(project, known);
    return known;
  }

  function readOnce(project: string): Promise<Known> {
    const running = reads.get(project);
    if (running) return running;
    const started = read(project).finally(() => reads.delete(project));
    reads.set(project, started);
    return started;
  }

  return {
    find: async (project, id) => {
      const keyIn = ({ settings }: Known) => settings?.keys.find((key) => key.id === id);
      const before = projects.get(project);
      const ageMs = before === undefined ? Infinity : performance.now() - before.readAt;
      const isKnown = before !== undefined && keyIn(before) !== undefined;
      const known = before && ageMs < (isKnown ? FRESH_MS : MISSED_MS) ? before : await readOnce(project);
      const found = keyIn(known);
      if (found) return { outcome: 'found', key: found.key, called: known.called };
      return { outcome: known.settings === undefined ? 'unavailable' : 'unknown' };
    },
  };
}
