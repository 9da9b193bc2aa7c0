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
    title: 'Bad request',
    detail:
      'The request is not valid HTTP/1.1. Send a well-formed request with either a Content-Length or chunks.',
  },
  'too-many-chunks': {
    status: 400,
    title: 'Too many body chunks',
    detail: 'Send the body as a whole, or in chunks of at least 64 bytes.',
  },
  'bad-json': {
    status: 400,
    title: 'Invalid JSON',
    detail: 'Send one JSON value in UTF-8, without a byte order mark.',
  },
  'bad-key': {
    status: 400,
    title: 'Invalid idempotency key',
    detail: 'The header that identifies the event must have 1 to 1,024 printable characters.',
  },
  'bad-query': {
    status: 400,
    title: 'Invalid query parameter',
    detail:
      '"test" is true or false; "until" is a node ID and "as" is data or output, both only with test=true; "limit" is 1 to 500; "phase" is a phase of runs; "continue" is the value from the previous page.',
  },
  'bad-session': {
    status: 400,
    title: 'Invalid chat session',
    detail:
      'The header Windlass-Chat-Session must occur once, with 43 characters of base64url: 256 random bits. Without the header the answer has a new session.',
  },
  unauthorized: {
    status: 401,
    title: 'Authentication required',
    detail: 'Send "Authorization: Bearer" with a token that the cluster accepts.',
    headers: { 'www-authenticate': 'Bearer realm="windlass"' },
  },
  unverified: {
    status: 401,
    title: 'Verification failed',
    detail: 'Sign the request or send the credentials as the owner of the workflow says.',
  },
  'token-refused': {
    status: 401,
    title: 'Token not accepted',
    detail:
      'The cluster does not accept the token, it has expired, its audience is "windlass" instead of the API server, or it is longer than 8,000 characters. Create one with: kubectl create token <service account>',
    headers: { 'www-authenticate': 'Bearer realm="windlass"' },
  },
  forbidden: {
    status: 403,
    title: 'Forbidden',
    detail: 'The token is valid, but RBAC does not allow this request.',
  },
  'not-the-console': {
    status: 403,
    title: 'Cross-site request refused',
    detail: 'Only pages of the console may send this request. Open the console and try again.',
  },
  'kube-path-refused': {
    status: 403,
    title: 'Not available through the console',
    detail:
      'In one namespace: workflows, workflowdrafts, workflowruns, credentials (get, list, watch, create, patch, update, delete; no update of drafts and runs), webhookroutes and projectsettings (get, list, watch), events (list, watch), secrets (get, list, create, patch; never a value), controllerrevisions (get, list). In the cluster: namespaces (get, list) and reviews of the own access (create). No subresources, and no other query parameters than these need. For anything else use kubectl.',
  },
  'not-found': {
    status: 404,
    title: 'Not found',
    detail: 'No active workflow has this URL. Check the URL, and whether the workflow is active.',
  },
  'workflow-unknown': {
    status: 404,
    title: 'Workflow not found',
    detail:
      'No workflow has this ID, <namespace>.<name>. List them with: kubectl get workflows.windlass.dev --all-namespaces',
  },
  'credential-unknown': {
    status: 404,
    title: 'Credential not found',
    detail:
      'No credential has this name, <namespace>.<name>. List them with: kubectl get credentials.windlass.dev --all-namespaces',
  },
  'run-unknown': {
    status: 404,
    title: 'Run not found',
    detail:
      'No run of this workflow has this name, or it was pruned. List runs with: kubectl get workflowruns -n <namespace>',
  },
  'memory-unknown': {
    status: 404,
    title: 'Memory not found',
    detail: 'Nothing is remembered for this name and key.',
  },
  'callback-unknown': {
    status: 404,
    title: 'Callback not found',
    detail: 'No callback has this URL. Send the whole URL, unchanged, as the workflow gave it.',
  },
  'method-not-allowed': {
    status: 405,
    title: 'Method not allowed',
    detail: 'The Allow header lists the methods of this URL.',
  },
  'request-timeout': {
    status: 408,
    title: 'Request timeout',
    detail:
      'Send the headers within 5 seconds and the whole request within 10, unless the installation sets other limits.',
  },
  'run-ended': {
    status: 409,
    title: 'Run already ended',
    detail: 'The run succeeded or failed before it could be cancelled, and does not change.',
  },
  'run-not-kept': {
    status: 409,
    title: 'Run cannot be retried here',
    detail:
      'The run has not ended, or the run store no longer has it. Wait for its end, or create a WorkflowRun with spec.retryOf, which takes the input from the record.',
  },
  'not-resumable': {
    status: 409,
    title: 'Run cannot be resumed',
    detail: 'Repeat the run without "resume", or correct "decisions".',
  },
  'decision-missing': {
    status: 409,
    title: 'Decision missing',
    detail:
      'Add a decision for each node in phase Unknown: {"node": ID, "outcome": "AssumeDone", "output": …} or {"node": ID, "outcome": "AssumeNotDone"}.',
  },
  'not-connectable': {
    status: 409,
    title: 'Credential cannot be connected',
    detail:
      'Only credentials of kind oauth2 with a valid authorizationURL are connected. Other kinds name their Secrets.',
  },
  inactive: {
    status: 409,
    title: 'Workflow inactive',
    detail:
      'Set spec.active to true. If it is true, the condition Ready says why the workflow is not in effect. Test runs are possible: ?test=true.',
  },
  'auth-required': {
    status: 409,
    title: 'Webhook requires auth',
    detail:
      'The webhook is public, and its namespace or the installation refuses public webhooks (condition Valid, reason AuthRequired). Add auth to the webhook. Test runs are possible: ?test=true.',
  },
  'workflow-suspended': {
    status: 409,
    title: 'Workflow suspended',
    detail: 'It refuses every run, also test runs. Set spec.suspend to false to resume it.',
  },
  'message-open': {
    status: 409,
    title: 'A message is being answered',
    detail:
      'A session has one message at a time, and the answer to the one before is not complete. Wait for it, or use another session.',
    headers: { 'retry-after': '2' },
  },
  'not-listening': {
    status: 410,
    title: 'Not listening any more',
    detail:
      'The test run that listened here has taken one event, or its time is over. Start another test run, and send the event to its URL.',
  },
  'callback-over': {
    status: 410,
    title: 'Callback no longer awaited',
    detail: 'The run, or its node that waited for this call, has ended. Do not send it again.',
  },
  'too-large': {
    status: 413,
    title: 'Payload too large',
    detail:
      'A body may have 1 MiB, unless the installation sets another limit. Send less, or a reference to the data.',
  },
  'event-too-large': {
    status: 413,
    title: 'Event too large',
    detail: 'An event may have 512 KiB. Send less, or a reference to the data.',
  },
  'callback-too-large': {
    status: 413,
    title: 'Callback too large',
    detail: 'A callback may have 64 KiB, and all data of a run 8 MiB. Send less, or a reference to the data.',
  },
  'uri-too-long': {
    status: 414,
    title: 'URI too long',
    detail: 'A URL may have at most 8,192 characters.',
  },
  'unsupported-media-type': {
    status: 415,
    title: 'Unsupported media type',
    detail: 'Send "Content-Type: application/json" in UTF-8, without a Content-Encoding.',
  },
  'expectation-failed': {
    status: 417,
    title: 'Expectation failed',
    detail: 'Send no Expect header, or "Expect: 100-continue".',
  },
  'misdirected-request': {
    status: 421,
    title: 'Misdirected request',
    detail: 'The console has another host. Open it at the URL in the chart value console.url.',
  },
  'too-deep': {
    status: 422,
    title: 'JSON nested too deep',
    detail: 'Objects and arrays may be nested 64 deep, unless the installation sets another limit.',
  },
  'too-complex': {
    status: 422,
    title: 'JSON too complex',
    detail:
      'An object may have 10,000 keys and a body 100,000 keys and values, unless the installation sets other limits.',
  },
  'forbidden-key': {
    status: 422,
    title: 'JSON key not allowed',
    detail: 'The key __proto__, and prototype inside constructor, are not accepted. Rename it.',
  },
  'duplicate-key': {
    status: 422,
    title: 'Duplicate JSON key',
    detail: 'Parsers differ in which of two equal keys they use. Send each key once.',
  },
  'number-out-of-range': {
    status: 422,
    title: 'JSON number out of range',
    detail:
      'A number may have 1,000 characters, and an exponent within the range of a double. Send others as strings.',
  },
  'lone-surrogate': {
    status: 422,
    title: 'Invalid Unicode in JSON',
    detail: 'A \\u escape is half of a surrogate pair. Send whole characters.',
  },
  'not-an-object': {
    status: 422,
    title: 'JSON object required',
    detail: 'Send a JSON object, or no body for an empty one.',
  },
  'bad-retry': {
    status: 422,
    title: 'Invalid retry',
    detail:
      'Send {"resume": true, "decisions": [{"node": ID, "outcome": "AssumeDone" or "AssumeNotDone"}]}; "decisions" only with "resume", "output" only with AssumeDone.',
  },
  'bad-watches': {
    status: 422,
    title: 'Invalid watches',
    detail:
      'Send {"watches":[{"id","path","query","table"}]} with 1 to 32 watches. Each id is unique and has up to 64 letters, digits, and "_.:-". Each path is that of a list, without a query. Parameters are strings.',
  },
  'bad-message': {
    status: 422,
    title: 'Invalid chat message',
    detail:
      'Send {"message": text, "id": text}: "message" has 1 to 16,384 characters that are not all white space, and "id", which identifies the message in its session, 1 to 64 letters, digits, _ and -.',
  },
  'message-id-reused': {
    status: 422,
    title: 'Message ID reused',
    detail:
      'This session has a message with the same "id" and another text. Send a new message with a new "id".',
  },
  'key-reused': {
    status: 422,
    title: 'Idempotency key reused',
    detail:
      'The key came before with another body, user, route, test or until parameter. Use a new key for a new event.',
  },
  'too-many-runs': {
    status: 429,
    title: 'Too many runs',
    detail: 'The workflow has as many unfinished runs as its concurrency limit admits. Try again later.',
    headers: { 'retry-after': '5' },
  },
  'too-many-calls': {
    status: 429,
    title: 'User rate limit exceeded',
    detail: 'This user requested more different workflows and runs than a second allows. Try again later.',
    headers: { 'retry-after': '1' },
  },
  'too-many-exchanges': {
    status: 429,
    title: 'Too many concurrent requests',
    detail:
      'A token may have 64 requests to the Kubernetes API (8 about secrets) and 256 watches at a time; all tokens together have a limit, too. Try again when some have ended.',
    headers: { 'retry-after': '1' },
  },
  'too-many-links': {
    status: 429,
    title: 'Too many links',
    detail:
      'A namespace gets 200 links in ten minutes, and a user 50 sign-in links. Try again when some have expired.',
    headers: { 'retry-after': '60' },
  },
  'too-many-requests': {
    status: 429,
    title: 'Rate limit exceeded',
    detail: 'Requests arrive faster than the limit admits. Try again after the time in Retry-After.',
  },
  'headers-too-large': {
    status: 431,
    title: 'Request header fields too large',
    detail: 'All headers together may have 16 KiB, unless the installation sets another limit.',
  },
  internal: {
    status: 500,
    title: 'Internal server error',
    detail: 'The log of the gateway has the details under this instance.',
  },
  'run-failed': {
    status: 502,
    title: 'Run failed',
    detail:
      'The event was accepted, and its run failed or was cancelled before it replied. To find out why, give "run" and "instance" to the owner of the workflow.',
  },
  'chat-failed': {
    status: 502,
    title: 'No answer',
    detail: 'The message could not be answered. Send a new one later, or ask the owner of the chat.',
  },
  'chat-limit': {
    status: 502,
    title: 'Limit reached',
    detail:
      'The chat has reached a usage limit and does not answer. Send a new message later, or ask the owner of the chat.',
  },
  'run-store-unavailable': {
    status: 503,
    title: 'Run store unavailable',
    // The lost answer may have been an acceptance.
    detail:
      'The event may have been accepted. Send it again after the time in Retry-After: with the same Idempotency-Key it runs once, without one it may run twice.',
  },
  'callback-unavailable': {
    status: 503,
    title: 'Run store unavailable',
    detail:
      'The call may have been stored. Send it again after the time in Retry-After: a repetition does nothing twice.',
  },
  'run-store-full': {
    status: 503,
    title: 'Run store full',
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
    title: 'Too many waiting callers',
    detail:
      'No more callers may wait for runs or follow them; nothing was accepted. Send it again after the time in Retry-After.',
    headers: { 'retry-after': '2' },
  },
  overloaded: {
    status: 503,
    title: 'Overloaded',
    detail:
      'The memory for requests is in use; nothing was accepted. Send it again after the time in Retry-After.',
    headers: { 'retry-after': '1' },
  },
  'cluster-unavailable': {
    status: 503,
    title: 'Kubernetes API unavailable',
    detail:
      'The Kubernetes API does not answer, or gets too many requests. Try again after the time in Retry-After.',
    headers: { 'retry-after': '2' },
  },
  'callers-unverifiable': {
    status: 503,
    title: 'Verification unavailable',
    detail:
      'A secret that verifies callers is missing; nothing was accepted. Try again after the time in Retry-After.',
    headers: { 'retry-after': '10' },
  },
  'run-unavailable': {
    status: 503,
    title: 'Run unavailable',
    detail: 'Neither the run store nor the Kubernetes API answers. Try again after the time in Retry-After.',
    headers: { 'retry-after': '2' },
  },
  'connect-unavailable': {
    status: 503,
    title: 'Connecting unavailable',
    detail:
      'The run store or the operator does not answer, or the gateway has no public URL. Try again after the time in Retry-After.',
    headers: { 'retry-after': '5' },
  },
  'console-unavailable': {
    status: 503,
    title: 'Sessions unavailable',
    detail:
      'The run store does not answer, so sessions cannot be checked. Try again after the time in Retry-After.',
    headers: { 'retry-after': '2' },
  },
  'not-ready': {
    status: 503,
    title: 'Not ready',
    detail: 'The gateway has not read all workflows yet. Try again after the time in Retry-After.',
    headers: { 'retry-after': '1' },
  },
  'reply-timeout': {
    status: 504,
    title: 'Reply timeout',
    detail: 'The event was accepted and its run continues. Its name is in "run".',
  },
  'chat-timeout': {
    status: 504,
    title: 'Answer timeout',
    detail:
      'The answer takes longer than five minutes. Send the same message with the same "id" to go on waiting for it.',
  },
  'chat-answer-unknown': {
    status: 504,
    title: 'Answer unknown',
    detail:
      'The message was accepted, but its answer is no longer kept: answers are kept for an hour. Send a new message to ask again.',
  },
  'outcome-unknown': {
    status: 504,
    title: 'Run outcome unknown',
    detail:
      'The event was accepted, but its run can no longer be found here. Before you send the event again, give "run" and "instance" to the owner of the workflow.',
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
    type: z.string().describe('Identifies the problem. Never changes.'),
    title: z.string().describe('Summary.'),
    status: z.int().min(400).max(599).describe('HTTP status.'),
    detail: z.string().describe('What is wrong and what to do.'),
    instance: z
      .string()
      .regex(/^urn:uuid:[0-9a-f-]{36}$/)
      .describe('Identifies the request in the logs of the gateway.'),
    run: runName.optional().describe('The run, if an event was accepted.'),
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
