/**
 * `GET /console/projects`: the namespaces in which the caller may list workflows. The caller's token lists
 * the namespaces, or, if it may not, tries those that the gateway serves, and that of the service account.
 * The API server decides about each; nothing reveals that another namespace exists.
 */
import type { FastifyInstance } from 'fastify';
import { GROUP } from '../../../api/group.ts';
import { namespaceOfAccount } from '../../../api/person.ts';
import { systemClock } from '../../../kube/clock.ts';
import { ApiError } from '../../../kube/errors.ts';
import type { PassedAnswer, PassedRequest } from '../../../kube/passThrough.ts';
import { createAnswers, JSON_TYPE, type Answers, type Exchange } from '../../http/answers.ts';
import type { GatewayDeps } from '../../endpoint/deps.ts';
import { createExpiringMap, type ExpiringMap } from '../../limits/boundedMaps.ts';
import type { ProblemCode } from '../../contract/problems.ts';
import { admitCaller } from './audit.ts';
import type { Caller, Callers } from './callers.ts';
import { acceptHeader } from './forms.ts';
import { readText } from './forward.ts';
import { addRoute } from '../../endpoint/route.ts';

/** `more`: more namespaces exist than were checked. */
type Projects = { items: { name: string }[]; more?: true };
type Found = Promise<Projects | ProblemCode>;

const KEPT_MS = 10_000;
const MAX_KEPT = 256;
/** How many namespaces are checked one by one, and how many at a time. */
const MAX_CANDIDATES = 500;
const AT_A_TIME = 8;
const MAX_PAGES = 10;
const PAGE = 500;
const ANSWER_BYTES = 8 * 1_024 * 1_024;
const TIMEOUT_MS = 30_000;
const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';

export function addProjectsRoute(app: FastifyInstance, deps: GatewayDeps, callers: Callers): void {
  const answers = createAnswers(deps, 'console');
  const kept = createExpiringMap<Found>(MAX_KEPT, systemClock);
  const context = { deps, answers, callers, kept };
  addRoute(app, answers, '/console/projects', { GET: { handle: (exchange) => answer(context, exchange) } });
}

type ProjectsContext = { deps: GatewayDeps; answers: Answers; callers: Callers; kept: ExpiringMap<Found> };

async function answer({ deps, answers, callers, kept }: ProjectsContext, exchange: Exchange): Promise<void> {
  const { reply } = exchange;
  const caller = await admitCaller(deps, callers, exchange);
  if (typeof caller === 'string') return answers.problem(reply, caller);
  const found = kept.get(caller.key) ?? findProjects(deps, callers, caller);
  if (kept.get(caller.key) === undefined) kept.set(caller.key, found, systemClock.now() + KEPT_MS);
  const projects = await found.catch((error: unknown) => {
    kept.delete(caller.key);
    throw error;
  });
  if (typeof projects === 'string') {
    kept.delete(caller.key);
    return answers.problem(reply, projects);
  }
  reply.header('cache-control', 'no-store');
  answers.send(reply, 200, JSON_TYPE, JSON.stringify(projects));
}

/** The API server refused, so that no further request makes sense. */
class Refused extends Error {
  override readonly name = 'Refused';
  readonly status: number;

  constructor(status: number) {
    super(`The API server answered with ${status}.`);
    this.status = status;
  }
}

type Ask = (
  request: Pick<PassedRequest, 'method' | 'path' | 'accept' | 'body' | 'contentType'>,
) => Promise<unknown>;

async function findProjects(deps: GatewayDeps, callers: Callers, caller: Caller): Found {
  // Several callers may wait for one answer, so it must not end with one of them.
  const signal = AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), deps.closing]);
  const ask: Ask = async (request) => {
    const given = await deps.kube.send({ ...request, token: caller.token, signal, silenceMs: TIMEOUT_MS });
    callers.answered(caller, given.status);
    return readGood(given);
  };
  try {
    return await projectsOf(deps, caller, ask);
  } catch (error) {
    if (error instanceof Refused && error.status === 401) return 'unauthorized';
    if (!(error instanceof Refused || error instanceof ApiError || signal.aborted)) throw error;
    deps.log.warn({ err: error }, 'listing projects failed');
    return 'cluster-unavailable';
  }
}

async function readGood(given: PassedAnswer): Promise<unknown> {
  const text = await readText(given, ANSWER_BYTES);
  if (given.status >= 300) throw new Refused(given.status);
  return JSON.parse(text);
}

async function projectsOf(
  { routes, namespaces }: GatewayDeps,
  { user }: Caller,
  ask: Ask,
): Promise<Projects> {
  const served = namespaces.length > 0 ? [...namespaces] : await listNamespaces(ask);
  const own = namespaceOfAccount(user.username);
  const known = [...routes.namespaces(), ...(own === undefined ? [] : [own])];
  // Namespaces with workflows first, in case not all can be checked.
  const names = [
    ...new Set([...(served ? known.filter((name) => served.includes(name)) : known), ...(served ?? [])]),
  ];
  const isAll = await mayList(ask, '');
  const allowed = isAll
    ? names
    : await filterBy(names.slice(0, MAX_CANDIDATES), (name) => mayList(ask, name));
  const items = allowed.toSorted().map((name) => ({ name }));
  return { items, ...(!isAll && names.length > MAX_CANDIDATES && { more: true as const }) };
}

type NamespacePage = { items: { metadata: { name: string } }[]; metadata?: { continue?: string } };

/** Undefined if the caller may not list them. */
async function listNamespaces(ask: Ask): Promise<string[] | undefined> {
  const names: string[] = [];
  let token = '';
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const query = new URLSearchParams({ limit: String(PAGE), ...(token !== '' && { continue: token }) });
    const path = `/api/v1/namespaces?${query.toString()}`;
    const list = await undefinedIfForbidden(
      ask({ method: 'GET', path, accept: acceptHeader('metadata', 'list') }),
    );
    if (list === undefined) return undefined;
    const { items, metadata } = list as NamespacePage;
    names.push(...items.map((item) => item.metadata.name));
    token = metadata?.continue ?? '';
    if (token === '') break;
  }
  return names;
}

/** Whether the caller may list workflows of the namespace; '': of all namespaces. */
async function mayList(ask: Ask, namespace: string): Promise<boolean> {
  const body = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes: { verb: 'list', group: GROUP, resource: 'workflows', namespace } },
  };
  const review = await undefinedIfForbidden(
    ask({
      method: 'POST',
      path: REVIEWS,
      accept: acceptHeader('object', 'create'),
      body: Buffer.from(JSON.stringify(body)),
      contentType: JSON_TYPE,
    }),
  );
  return (review as { status?: { allowed?: boolean } } | undefined)?.status?.allowed === true;
}

async function undefinedIfForbidden(question: Promise<unknown>): Promise<unknown> {
  try {
    return await question;
  } catch (error) {
    if (error instanceof Refused && error.status === 403) return undefined;
    throw error;
  }
}

/** Filters in order, with bounded concurrency. */
async function filterBy(names: string[], predicate: (name: string) => Promise<boolean>): Promise<string[]> {
  const results = new Map<string, boolean>();
  const left = names.values();
  const work = async (): Promise<void> => {
    for (const name of left) results.set(name, await predicate(name));
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  return names.filter((name) => results.get(name) === true);
}
