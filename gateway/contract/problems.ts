/**
 * The register of problems (RFC 9457) with stable types. All texts are constant: they never contain parts of
 * a request, an exception or another object.
 */
import * as z from 'zod';
import type { JsonRefusalCode } from '../../api/json.ts';
import { runName } from '../../api/runView.ts';

export type ProblemDefinition = {
  status: number;
  title: string;
  detail: string;
  /** Headers of every answer with this problem. */
  headers?: Record<string, string>;
};

export const PROBLEMS = {
  'bad-request': {
    status: 400,
    title: 'The request is not valid HTTP',
    detail: 'Send a well-formed HTTP/1.1 request with one way of telling its length.',
  },
  'too-many-chunks': {
    status: 400,
    title: 'The body comes in too many pieces',
    detail: 'Send it as a whole, or in chunks of at least 64 bytes.',
  },
  'bad-json': {
    status: 400,
    title: 'The body is not JSON',
    detail: 'Send one JSON value in UTF-8, without a byte order mark.',
  },
  'bad-key': {
    status: 400,
    title: 'The key of the event cannot be used',
    detail: 'The header that names the event must have 1 to 1,024 printable characters.',
  },
  'bad-query': {
    status: 400,
    title: 'The query cannot be read',
    detail:
      'The parameter "test" is true or false, "until" the id of a node and only with test=true, "limit" a number from 1 to 500, "phase" one phase of a run, and "continue" what the page before gave.',
  },
  unauthorized: {
    status: 401,
    title: 'Who calls is not known',
    detail: 'Send "Authorization: Bearer" with a token that the cluster accepts.',
    headers: { 'www-authenticate': 'Bearer realm="windlass"' },
  },
  unverified: {
    status: 401,
    title: 'The caller is not verified',
    detail: 'Sign the request, or send the credentials, as the owner of the workflow says.',
  },
  'token-refused': {
    status: 401,
    title: 'The token cannot be used to sign in',
    detail:
      'The cluster does not accept it, it has expired, it is for the audience "windlass" and not for the API server, or it is longer than 8,000 characters. Make one with: kubectl create token <service account>',
    headers: { 'www-authenticate': 'Bearer realm="windlass"' },
  },
  forbidden: {
    status: 403,
    title: 'Not allowed',
    detail: 'The token is good, but RBAC does not allow this call.',
  },
  'not-the-console': {
    status: 403,
    title: 'Only a page of the console may call this',
    detail: 'The browser must say that the request comes from the console itself, with its own header.',
  },
  'kube-path-refused': {
    status: 403,
    title: 'The console does not pass this on to the Kubernetes API',
    detail:
      'Passed on are, in one namespace: workflows, workflowruns, credentials (get, list, watch, create, patch, update, delete; no update of runs), webhookroutes (get, list, watch), events (list, watch), secrets (get, list, create, patch; never a value), controllerrevisions (get, list); namespaces (get, list); and reviews of what one may do oneself. No subresources, and only the query parameters that these need.',
  },
  'not-found': {
    status: 404,
    title: 'Nothing is here',
    detail: 'No active workflow answers at this address.',
  },
  'workflow-unknown': {
    status: 404,
    title: 'There is no such workflow',
    detail: 'No workflow has this id, <namespace>.<name>: kubectl get workflows --all-namespaces',
  },
  'credential-unknown': {
    status: 404,
    title: 'There is no such credential',
    detail:
      'No credential has this name, <namespace>.<name>: kubectl get credentials.windlass.dev --all-namespaces',
  },
  'run-unknown': {
    status: 404,
    title: 'There is no such run',
    detail:
      'No run of this workflow has this name, or its history is pruned: kubectl get workflowruns -n <namespace>',
  },
  'method-not-allowed': {
    status: 405,
    title: 'Another method is needed',
    detail: 'The Allow header names the methods that this address takes.',
  },
  'request-timeout': {
    status: 408,
    title: 'The request took too long',
    detail:
      'Send the headers within 5 seconds and the whole request within 10, if the installation sets no other times.',
  },
  'run-ended': {
    status: 409,
    title: 'The run has ended',
    detail: 'It succeeded or failed before it could be cancelled, and stays as it is.',
  },
  'not-connectable': {
    status: 409,
    title: 'The credential is not of a kind that is connected',
    detail:
      'Only a credential of kind oauth2 with a valid authorizationURL is connected; others name their secrets.',
  },
  inactive: {
    status: 409,
    title: 'The workflow is inactive',
    detail:
      'Set spec.active to true. If it is true, the condition Ready says why the workflow is not in effect. A test run is possible: ?test=true.',
  },
  'auth-required': {
    status: 409,
    title: 'The webhook of the workflow must verify callers',
    detail:
      'The workflow is active, but not in effect: its webhook is public, and its namespace or the installation refuses public webhooks (condition Valid, reason AuthRequired). Add auth to the webhook. A test run is possible: ?test=true.',
  },
  'workflow-suspended': {
    status: 409,
    title: 'The workflow is suspended',
    detail: 'It refuses every run, also test runs. Set spec.suspend to false to resume it.',
  },
  'too-large': {
    status: 413,
    title: 'The body is too large',
    detail:
      'A body may have 1 MiB, if the installation says nothing else. Send less, or a reference to where the data is.',
  },
  'event-too-large': {
    status: 413,
    title: 'The event is too large for a run',
    detail: 'What starts a run may have 512 KiB. Send less, or a reference to where the data is.',
  },
  'uri-too-long': {
    status: 414,
    title: 'The address is too long',
    detail: 'An address may have at most 8,192 characters.',
  },
  'unsupported-media-type': {
    status: 415,
    title: 'The body is not declared as JSON',
    detail: 'Send "Content-Type: application/json" in UTF-8, without a Content-Encoding.',
  },
  'expectation-failed': {
    status: 417,
    title: 'The expectation cannot be met',
    detail: 'Send no Expect header, or "Expect: 100-continue".',
  },
  'misdirected-request': {
    status: 421,
    title: 'Misdirected request',
    detail:
      'The console does not answer at this host. Open it at the address that the chart value console.url names.',
  },
  'too-deep': {
    status: 422,
    title: 'The JSON is nested too deep',
    detail: 'Objects and lists may be nested 64 deep, if the installation says nothing else.',
  },
  'too-complex': {
    status: 422,
    title: 'The JSON has too many parts',
    detail:
      'An object may have 10,000 keys, a body 100,000 keys and values, if the installation says nothing else.',
  },
  'forbidden-key': {
    status: 422,
    title: 'The JSON has a key that is not accepted',
    detail: 'The key __proto__, and prototype inside constructor, are not accepted.',
  },
  'duplicate-key': {
    status: 422,
    title: 'The JSON has a key twice',
    detail: 'Programs do not agree on which of the two counts: send it once.',
  },
  'number-out-of-range': {
    status: 422,
    title: 'The JSON has a number that is too large',
    detail: 'Numbers must fit a double: send larger ones as strings.',
  },
  'lone-surrogate': {
    status: 422,
    title: 'The JSON has a text that is no Unicode',
    detail: 'A \\u escape stands for half of a surrogate pair.',
  },
  'not-an-object': {
    status: 422,
    title: 'The body is not a JSON object',
    detail: 'Send an object, or nothing for an empty one.',
  },
  'bad-watches': {
    status: 422,
    title: 'The watches cannot be read',
    detail:
      'Send {"watches":[{"id","path","query","table"}]}: 1 to 32 watches, each with an id of its own of up to 64 letters, digits, and "_.:-", the path of a list without a query, and parameters that are texts.',
  },
  'key-reused': {
    status: 422,
    title: 'The key was used for another event',
    detail:
      'The same key came before with another body, from another user, to another kind of address, for a test run, or for one as far as another node: use a new key for a new event.',
  },
  'too-many-runs': {
    status: 429,
    title: 'The workflow is at its limit',
    detail: 'As many runs as the workflow admits are under way: try again later.',
    headers: { 'retry-after': '5' },
  },
  'too-many-calls': {
    status: 429,
    title: 'The caller asks for too much at once',
    detail: 'More different workflows and runs were asked about than a second allows: try again later.',
    headers: { 'retry-after': '1' },
  },
  'too-many-exchanges': {
    status: 429,
    title: 'Too much of this token is under way',
    detail:
      'A token may have 64 requests to the Kubernetes API (8 about secrets) and 256 watches at a time, all tokens together some more: try again when some have ended.',
    headers: { 'retry-after': '1' },
  },
  'too-many-links': {
    status: 429,
    title: 'Too many links were asked for',
    detail:
      'A namespace is given 200 links within ten minutes, and a user 50 that sign in to the console: try again when they have ended.',
    headers: { 'retry-after': '60' },
  },
  'too-many-requests': {
    status: 429,
    title: 'Too many requests',
    detail: 'They come faster than this webhook takes them. Try again after the time in Retry-After.',
  },
  'headers-too-large': {
    status: 431,
    title: 'The headers are too large',
    detail: 'All headers together may have 16 KiB, if the installation says nothing else.',
  },
  internal: {
    status: 500,
    title: 'Something went wrong here',
    detail: 'The log of the gateway has the details under this instance.',
  },
  'run-failed': {
    status: 502,
    title: 'The run failed before it answered',
    detail:
      'The event was accepted, and its run failed or was cancelled. To find out why, give "run" and "instance" to the owner of the workflow.',
  },
  'run-store-unavailable': {
    status: 503,
    title: 'The run store does not answer',
    // The lost answer may have been an acceptance.
    detail:
      'It is not known whether the event was accepted. Send it again after the time in Retry-After: with the Idempotency-Key that it came with it runs once, without one it may run twice.',
  },
  'run-store-full': {
    status: 503,
    title: 'There is no room for the event now',
    detail: 'Nothing was accepted. Send it again after the time in Retry-After.',
  },
  'too-many-connections': {
    status: 503,
    title: 'Too many connections',
    detail: 'All connections are in use. Try again after the time in Retry-After.',
    headers: { 'retry-after': '1' },
  },
  'too-many-waiting': {
    status: 503,
    title: 'Too many callers wait',
    detail:
      'As many callers wait for the answers of runs, or follow them, as may; nothing was accepted. Send it again after the time in Retry-After.',
    headers: { 'retry-after': '2' },
  },
  overloaded: {
    status: 503,
    title: 'Too much is under way',
    detail: 'Nothing was accepted. Send it again after the time in Retry-After.',
    headers: { 'retry-after': '1' },
  },
  'cluster-unavailable': {
    status: 503,
    title: 'The cluster does not answer now',
    detail:
      'The Kubernetes API does not answer, or is asked too often. Try again after the time in Retry-After.',
    headers: { 'retry-after': '2' },
  },
  'callers-unverifiable': {
    status: 503,
    title: 'No caller can be verified now',
    detail:
      'A secret that callers are verified with is missing here. Nothing was accepted. Try again after the time in Retry-After.',
    headers: { 'retry-after': '10' },
  },
  'run-unavailable': {
    status: 503,
    title: 'The run cannot be read now',
    detail: 'Neither the run store nor the Kubernetes API answers. Try again after the time in Retry-After.',
    headers: { 'retry-after': '2' },
  },
  'connect-unavailable': {
    status: 503,
    title: 'Nothing can be connected now',
    detail:
      'The run store or the operator does not answer, or the gateway was not told its public URL. Try again after the time in Retry-After.',
    headers: { 'retry-after': '5' },
  },
  'console-unavailable': {
    status: 503,
    title: 'Sessions cannot be checked now',
    detail:
      'The run store does not answer, which knows who has signed out. Try again after the time in Retry-After.',
    headers: { 'retry-after': '2' },
  },
  'not-ready': {
    status: 503,
    title: 'The gateway is not ready yet',
    detail: 'The workflows are not known yet. Try again after the time in Retry-After.',
    headers: { 'retry-after': '1' },
  },
  'reply-timeout': {
    status: 504,
    title: 'The run has not answered in time',
    detail: 'The event is stored and the run goes on. Its name is in "run".',
  },
  'outcome-unknown': {
    status: 504,
    title: 'What became of the run is not known',
    detail:
      'The event was accepted, but its run can no longer be found here. Before you send the event again, ask the owner of the workflow what became of the run: give "run" and "instance".',
  },
} as const satisfies Record<JsonRefusalCode, ProblemDefinition> & Record<string, ProblemDefinition>;

export type ProblemCode = keyof typeof PROBLEMS;

/** Problems that any request may get, before its route is known. */
export const PROBLEMS_OF_ANY = [
  'bad-request',
  'method-not-allowed',
  'request-timeout',
  'uri-too-long',
  'expectation-failed',
  'headers-too-large',
  'internal',
  'too-many-connections',
] as const satisfies ProblemCode[];

/** Problems of the console's own routes, which are not a public interface and not part of the contract. */
export const PROBLEMS_OF_CONSOLE: readonly string[] = [
  'not-the-console',
  'kube-path-refused',
  'bad-watches',
  'too-many-exchanges',
];

const problemsOfJson = {
  'bad-json': true,
  'too-deep': true,
  'too-complex': true,
  'forbidden-key': true,
  'duplicate-key': true,
  'number-out-of-range': true,
  'lone-surrogate': true,
} satisfies Record<JsonRefusalCode, true>;

/** Problems of a body that is not JSON, or not accepted as JSON. */
export const JSON_PROBLEMS = Object.keys(problemsOfJson) as JsonRefusalCode[];

export function problemOf(code: ProblemCode): ProblemDefinition {
  return PROBLEMS[code];
}

export const PROBLEM_TYPE = 'application/problem+json';

/** The `type` of a problem: a tag URI (RFC 4151), which need not resolve (RFC 9457, section 3.1.1). */
export function problemType(code: ProblemCode): string {
  return `tag:windlass.dev,2026:problem/${code}`;
}

/** The schema of every problem. */
export const problemSchema = z
  .object({
    type: z.string().describe('Which problem it is. Never changes.'),
    title: z.string().describe('The problem in a few words.'),
    status: z.int().min(400).max(599).describe('The status of the answer.'),
    detail: z.string().describe('What to do.'),
    instance: z
      .string()
      .regex(/^urn:uuid:[0-9a-f-]{36}$/)
      .describe('Names the request in the log of the gateway.'),
    run: runName.optional().describe('The run, where an event was accepted.'),
  })
  .describe('A problem (RFC 9457).');

/**
 * The body of a problem. `instance` identifies the request in logs, `run` names an accepted run, `more`
 * follows the detail.
 */
export function problemBody(
  code: ProblemCode,
  instance: string,
  { run, more }: { run?: string | undefined; more?: string | undefined } = {},
): string {
  const { status, title, detail: known } = problemOf(code);
  const detail = more === undefined ? known : `${known} ${more}`;
  return JSON.stringify({ type: problemType(code), title, status, detail, instance, run });
}
