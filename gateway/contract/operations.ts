/**
 * The register of operations of both listeners. Routes take path, method, right and body from it, and
 * `/openapi.json` is generated from it. A route that is missing here fails a test.
 */
import * as z from 'zod';
import {
  acceptedRun,
  botAnswer,
  chatAnswer,
  chatMessage,
  receivedCallback,
  runEvent,
  runPage,
  runView,
} from '../../api/runView.ts';
import { connectLink } from '../../api/connect.ts';
import { memoryPage, memoryView } from '../../api/memory.ts';
import { signInLink } from '../../api/console.ts';
import { projectUsage } from '../../api/usage.ts';
import { executeQuery, listQuery, memoriesQuery, memoryQuery } from './queries.ts';
import { retryBody } from './retry.ts';
import { JSON_PROBLEMS, type ProblemCode } from './problems.ts';
import type { Operation, Right } from './operation.ts';

const JSON_TYPE = 'application/json';
const TEXT = 'text/plain';

/** Problems of every operation that authenticates callers. */
const ADMISSION: ProblemCode[] = ['unauthorized', 'too-many-calls', 'forbidden', 'cluster-unavailable'];
/** Problems of every operation that reads a body. */
const BODY: ProblemCode[] = [
  'unsupported-media-type',
  'too-large',
  'event-too-large',
  'overloaded',
  'too-many-chunks',
  ...JSON_PROBLEMS,
];
/** Problems of every operation that submits an event. */
const SUBMISSION: ProblemCode[] = [
  'bad-key',
  'key-reused',
  'too-many-runs',
  'run-store-full',
  'run-store-unavailable',
];
const ONE_RUN: ProblemCode[] = [...ADMISSION, 'workflow-unknown', 'run-unknown', 'run-unavailable'];

const key = {
  'Idempotency-Key': z
    .string()
    .min(1)
    .max(1_024)
    .optional()
    .describe('Identifies the event: requests with the same key start one run.'),
};

/** Parts of every answer about a run that was just started. */
const STARTED = {
  headers: { Location: 'URL of the run.' },
  links: ['readRun', 'followRun', 'cancelRun'],
};

const run = (verb: Right['verb']): Right => ({ verb, resource: 'workflowruns', on: 'run' });
const accepted = (description: string) => ({ description, content: { [JSON_TYPE]: acceptedRun } });
const viewed = (description: string) => ({ description, content: { [JSON_TYPE]: runView } });
const page = (description: string) => ({ description, content: { 'text/html': z.string() } });
const text = (description: string) => ({ description, content: { [TEXT]: z.string() } });

export const OPERATIONS = {
  callWebhook: {
    listener: 'public',
    method: 'POST',
    path: '/webhook/{id}/{path}',
    summary: 'Starts a run of a workflow with a webhook trigger',
    description:
      'The trigger defines who may call and how callers are verified. A workflow with a response node may answer with any status.',
    headers: z.object(key),
    body: {
      schema: z.unknown().describe('Any JSON value. It becomes the output of the trigger.'),
      required: true,
    },
    answers: {
      200: accepted('The event is stored. If the workflow has a response node, its run has succeeded.'),
      202: accepted('A repeated event, whose run has ended.'),
      default: {
        description: 'Defined by the response node of the workflow.',
        content: { '*/*': undefined },
      },
    },
    problems: [
      ...(['not-found', 'not-ready', 'too-many-requests', 'unverified', 'callers-unverifiable'] as const),
      'not-listening',
      ...BODY,
      ...SUBMISSION,
      ...(['too-many-waiting', 'run-failed', 'reply-timeout', 'outcome-unknown'] as const),
    ],
  },
  sendToBot: {
    listener: 'public',
    method: 'POST',
    path: '/bot/{credential}',
    summary: 'Receives updates of a messaging service for a bot',
    description:
      "Telegram sends the registered secret, Slack signs with the app's signing secret. A message starts a run of the workflow with the bot; a repeated update is the same run.",
    headers: z.object({
      'X-Telegram-Bot-Api-Secret-Token': z.string().optional().describe('Telegram: the secret.'),
      'X-Slack-Request-Timestamp': z
        .string()
        .optional()
        .describe('Slack: the time of signing, in Unix seconds.'),
      'X-Slack-Signature': z.string().optional().describe('Slack: "v0=" and the signature in hex.'),
    }),
    body: {
      schema: z.unknown().describe('A Telegram Update, or a Slack Events API request.'),
      required: true,
    },
    answers: {
      200: {
        description:
          'The message is stored. Or the workflow does not want the update, and the object is empty. Or, as text, the challenge of Slack.',
        content: { [JSON_TYPE]: botAnswer, [TEXT]: z.string() },
      },
    },
    problems: [
      ...(['not-found', 'not-ready', 'too-many-requests', 'unverified', 'callers-unverifiable'] as const),
      ...BODY,
      ...(['too-many-runs', 'run-store-full', 'run-store-unavailable'] as const),
    ],
  },
  openChat: {
    listener: 'public',
    method: 'GET',
    path: '/chat/{chat}',
    summary: 'The page of a chat',
    description: 'For people. Shows the title, the welcome text and the suggestions to anybody.',
    answers: { 200: page('The page.') },
    problems: ['not-found', 'not-ready'],
  },
  sendMessage: {
    listener: 'public',
    method: 'POST',
    path: '/chat/{chat}/messages',
    summary: 'Sends a message to a chat, and waits for the answer',
    description:
      'A message starts a run. A repeated message, with the same "id" in the same session, is the same run and gets its answer. The answer is a stream of the events text, reset, done and error, or one JSON value if Accept has application/json and not text/event-stream.',
    headers: z.object({
      'Windlass-Chat-Session': z
        .string()
        .regex(/^[A-Za-z0-9_-]{43}$/)
        .optional()
        .describe('The token of the session: 256 random bits in base64url. Left out: a new session.'),
      Authorization: z.string().optional().describe('With access Token: "Bearer" and the token.'),
    }),
    body: { schema: chatMessage, required: true },
    answers: {
      200: {
        description: 'The message is stored. The stream, or the answer.',
        content: { 'text/event-stream': z.string(), [JSON_TYPE]: chatAnswer },
        headers: { 'Windlass-Chat-Session': 'The token of the session.' },
      },
    },
    problems: [
      ...(['not-found', 'not-ready', 'too-many-requests', 'unverified', 'callers-unverifiable'] as const),
      ...BODY,
      ...(['bad-session', 'bad-message', 'message-open', 'message-id-reused', 'too-many-waiting'] as const),
      ...(['too-many-runs', 'run-store-full', 'run-store-unavailable'] as const),
      ...(['chat-failed', 'chat-limit', 'chat-timeout', 'chat-answer-unknown'] as const),
    ],
  },
  callBack: {
    listener: 'public',
    method: 'POST',
    path: '/callback/{token}',
    summary: 'Ends the wait of a node for a callback',
    description:
      'A workflow sends this URL out. The first call ends the wait, and its body is the output of the node; a repeated call gets the same answer and changes nothing. Calls with another method change nothing.',
    body: {
      schema: z.unknown().describe('Any JSON value, at most 64 KiB.'),
      required: true,
    },
    answers: {
      200: {
        description: 'The call is stored, by this request or by an earlier one.',
        content: { [JSON_TYPE]: receivedCallback },
      },
    },
    problems: [
      ...(['callback-unknown', 'callback-over', 'callback-too-large', 'callback-unavailable'] as const),
      ...(['not-ready', 'too-many-requests', 'run-store-full', 'too-large', 'event-too-large'] as const),
      ...(['unsupported-media-type', 'overloaded', 'too-many-chunks'] as const),
      ...JSON_PROBLEMS,
    ],
  },
  executeWorkflow: {
    listener: 'internal',
    method: 'POST',
    path: '/workflows/{id}/execute',
    summary: 'Starts a run of any workflow',
    right: { verb: 'create', resource: 'workflows', subresource: 'execute', on: 'workflow' },
    query: executeQuery,
    headers: z.object({
      ...key,
      Prefer: z
        .string()
        .optional()
        .describe('"wait=N" waits up to N seconds, at most 300, for the run to end (RFC 7240).'),
    }),
    body: {
      schema: z
        .record(z.string(), z.unknown())
        .describe(
          'Becomes the output of the trigger, of any type. Left out: {}, or the test data in a test run.',
        ),
      required: false,
    },
    answers: {
      200: { ...viewed('The run has ended, in any terminal phase.'), ...STARTED },
      202: { ...accepted('The event is stored.'), ...STARTED },
    },
    problems: [
      ...ADMISSION,
      ...([
        'workflow-unknown',
        'not-ready',
        'bad-query',
        'workflow-suspended',
        'auth-required',
        'inactive',
      ] as const),
      ...BODY,
      'not-an-object',
      ...SUBMISSION,
    ],
  },
  listRuns: {
    listener: 'internal',
    method: 'GET',
    path: '/workflows/{id}/runs',
    summary: 'Lists the runs of a workflow, newest first',
    right: { verb: 'list', resource: 'workflowruns', on: 'namespace' },
    query: listQuery,
    answers: { 200: { description: 'A page of runs.', content: { [JSON_TYPE]: runPage } } },
    problems: [...ADMISSION, 'workflow-unknown', 'bad-query', 'not-ready', 'run-unavailable'],
  },
  readRun: {
    listener: 'internal',
    method: 'GET',
    path: '/workflows/{id}/runs/{run}',
    summary: 'Reads a run with the outputs of its nodes',
    right: run('get'),
    answers: { 200: viewed('The run.') },
    problems: ONE_RUN,
  },
  cancelRun: {
    listener: 'internal',
    method: 'DELETE',
    path: '/workflows/{id}/runs/{run}',
    summary: 'Cancels a run; its record stays',
    right: run('delete'),
    answers: {
      202: accepted('The runner that executes it will end it.'),
      204: { description: 'The run is cancelled.' },
    },
    problems: [...ONE_RUN, 'run-ended'],
  },
  retryRun: {
    listener: 'internal',
    method: 'POST',
    path: '/workflows/{id}/runs/{run}/retry',
    summary: 'Repeats an ended run with its input, or resumes a failed one',
    description:
      'Possible until the end of the run is recorded; for a failed run, a day more, while the run store has room. Afterwards create a WorkflowRun with spec.retryOf.',
    right: { verb: 'create', resource: 'workflows', subresource: 'execute', on: 'workflow' },
    headers: z.object(key),
    body: { schema: retryBody, required: false },
    answers: { 202: { ...accepted('The new run is stored.'), ...STARTED } },
    problems: [
      ...ADMISSION,
      ...([
        'workflow-unknown',
        'not-ready',
        'workflow-suspended',
        'auth-required',
        'inactive',
        'run-unknown',
        'run-not-kept',
        'run-unavailable',
        'not-resumable',
        'decision-missing',
        'bad-retry',
      ] as const),
      ...BODY,
      ...SUBMISSION,
    ],
  },
  followRun: {
    listener: 'internal',
    method: 'GET',
    path: '/workflows/{id}/runs/{run}/events',
    summary: 'Follows the live events of a run',
    right: run('get'),
    headers: z.object({
      'Last-Event-ID': z
        .string()
        .optional()
        .describe('Starts after this event. Left out: from the first one.'),
    }),
    answers: {
      200: {
        description: 'Server-sent events. The stream ends after the event that ends the run.',
        content: { 'text/event-stream': runEvent },
      },
      204: { description: 'The run has no further events.' },
    },
    problems: [...ONE_RUN, 'too-many-waiting'],
  },
  readUsage: {
    listener: 'internal',
    method: 'GET',
    path: '/projects/{namespace}/usage',
    summary: 'Reads the usage of the agents of a project on the last day on which one asked a model',
    right: { verb: 'list', resource: 'workflowruns', on: 'namespace' },
    answers: { 200: { description: 'The usage.', content: { [JSON_TYPE]: projectUsage } } },
    problems: [...ADMISSION, 'workflow-unknown', 'not-ready', 'run-unavailable'],
  },
  listMemories: {
    listener: 'internal',
    method: 'GET',
    path: '/workflows/{id}/memory',
    summary: 'Lists what the agents of a workflow remember, last used first',
    right: { verb: 'list', resource: 'workflowruns', on: 'namespace' },
    query: memoriesQuery,
    answers: { 200: { description: 'The memories.', content: { [JSON_TYPE]: memoryPage } } },
    problems: [...ADMISSION, 'workflow-unknown', 'bad-query', 'not-ready', 'run-unavailable'],
  },
  readMemory: {
    listener: 'internal',
    method: 'GET',
    path: '/workflows/{id}/memory/{name}/{key}',
    summary: 'Reads the turns that an agent remembers for a key',
    right: { verb: 'get', resource: 'workflowruns', on: 'namespace' },
    query: memoryQuery,
    answers: { 200: { description: 'The memory.', content: { [JSON_TYPE]: memoryView } } },
    problems: [
      ...ADMISSION,
      ...(['workflow-unknown', 'memory-unknown', 'bad-query', 'not-ready', 'run-unavailable'] as const),
    ],
  },
  deleteMemory: {
    listener: 'internal',
    method: 'DELETE',
    path: '/workflows/{id}/memory/{name}/{key}',
    summary: 'Deletes what an agent remembers for a key',
    description:
      'Deletes the memory of live runs and that of test runs. Runs that were accepted before do not store their turns. Repeating the call changes nothing.',
    right: { verb: 'delete', resource: 'workflowruns', on: 'namespace' },
    answers: { 204: { description: 'Nothing is remembered for the key.' } },
    problems: [...ADMISSION, 'workflow-unknown', 'memory-unknown', 'not-ready', 'run-unavailable'],
  },
  connectCredential: {
    listener: 'internal',
    method: 'POST',
    path: '/credentials/{credential}/connect',
    summary: 'Creates a link that connects a credential of kind oauth2',
    description:
      'A person who follows the link signs in at the provider and grants the credential access to the account. The link works once, for ten minutes.',
    right: { verb: 'update', resource: 'credentials', on: 'credential' },
    answers: { 201: { description: 'The link.', content: { [JSON_TYPE]: connectLink } } },
    problems: [
      ...ADMISSION,
      ...(['credential-unknown', 'not-connectable', 'too-many-links', 'connect-unavailable'] as const),
    ],
  },
  openLink: {
    listener: 'public',
    method: 'GET',
    path: '/oauth/connect/{link}',
    summary: 'Shows who asks for which account',
    description: 'Does not use up the link.',
    answers: {
      200: page('Requester, credential, and a link to continue.'),
      404: page('The link was used before, has expired, or is invalid.'),
      503: page('Temporarily unavailable.'),
    },
    problems: [],
  },
  followLink: {
    listener: 'public',
    method: 'GET',
    path: '/oauth/connect/{link}/continue',
    summary: 'Redirects the browser to the provider, once',
    answers: {
      303: {
        description: 'Redirect to the provider, with a cookie that its answer requires.',
        headers: { Location: "The provider's page.", 'Set-Cookie': 'Binds the browser for ten minutes.' },
      },
      404: page('The link was used before, has expired, or is invalid.'),
      503: page('Temporarily unavailable.'),
    },
    problems: [],
  },
  finishConnect: {
    listener: 'public',
    method: 'GET',
    path: '/oauth/callback',
    summary: 'Receives the answer of the provider from the browser that followed the link',
    query: z.object({
      state: z.string().optional().describe('The state of the authorization request.'),
      code: z.string().optional().describe('The authorization code.'),
      iss: z.string().optional().describe('The issuer (RFC 9207).'),
      error: z.string().optional().describe('The error (RFC 6749, section 4.1.2.1).'),
    }),
    answers: {
      200: page('Connected, or the error of the provider.'),
      400: page('The answer is invalid.'),
      503: page('Temporarily unavailable.'),
    },
    problems: [],
  },
  makeSignInLink: {
    listener: 'internal',
    method: 'POST',
    path: '/console/links',
    summary: 'Creates a one-time link, valid for ten minutes, that signs in to the console as the caller',
    description:
      "The token must be for the API server, which the console calls with it. Anyone who opens the link gets the token's rights until it expires.",
    anyToken: true,
    answers: {
      201: {
        description: 'The link. Its page asks for confirmation before it signs in.',
        content: { [JSON_TYPE]: signInLink },
      },
    },
    problems: [
      ...([
        'unauthorized',
        'token-refused',
        'misdirected-request',
        'too-many-calls',
        'too-many-links',
        'cluster-unavailable',
      ] as const),
      'console-unavailable',
    ],
  },
  describe: {
    listener: 'internal',
    method: 'GET',
    path: '/openapi.json',
    summary: 'Returns this description',
    headers: z.object({
      'If-None-Match': z.string().optional().describe('The ETag of the cached description.'),
    }),
    answers: {
      200: {
        description: 'An OpenAPI 3.1 document.',
        content: { [JSON_TYPE]: z.record(z.string(), z.unknown()) },
        headers: { ETag: 'Changes with the document.' },
      },
      304: { description: 'Not modified.', headers: { ETag: 'ETag of the document.' } },
    },
    problems: [],
  },
  live: {
    listener: 'internal',
    method: 'GET',
    path: '/healthz',
    summary: 'Liveness probe',
    answers: { 200: text('The process is alive.') },
    problems: [],
  },
  ready: {
    listener: 'internal',
    method: 'GET',
    path: '/readyz',
    summary: 'Readiness probe',
    answers: { 200: text('Ready.'), 503: text('Not ready; the body has the reason.') },
    problems: [],
  },
} as const satisfies Record<string, Operation>;
