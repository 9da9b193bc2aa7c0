/**
 * The register of operations of both listeners. Routes take path, method, right and body from it, and
 * `/openapi.json` is generated from it. A route that is missing here fails a test.
 */
import * as z from 'zod';
import { acceptedRun, botAnswer, runEvent, runPage, runView } from '../../api/runView.ts';
import { connectLink } from '../../api/connect.ts';
import { signInLink } from '../../api/console.ts';
import { executeQuery, listQuery } from './queries.ts';
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
    .describe('Tells that two requests are one event: the same key starts one run.'),
};

/** Parts of every answer about a run that was just started. */
const STARTED = {
  headers: { Location: 'Where the run is.' },
  links: ['readRun', 'followRun', 'cancelRun'],
};

const run = (verb: Right['verb']): Right => ({ verb, resource: 'workflowruns', on: 'run' });
const accepted = (description: string) => ({ description, content: { [JSON_TYPE]: acceptedRun } });
const viewed = (description: string) => ({ description, content: { [JSON_TYPE]: runView } });
const page = (description: string) => ({ description, content: { 'text/html': z.string() } });
const told = (description: string) => ({ description, content: { [TEXT]: z.string() } });

export const OPERATIONS = {
  callWebhook: {
    listener: 'public',
    method: 'POST',
    path: '/webhook/{id}/{path}',
    summary: 'Starts a run of a workflow with a webhook trigger',
    description:
      'Who may call, and by which headers callers are verified, the trigger says. Where the workflow has a response node, any status may come with what that defines.',
    headers: z.object(key),
    body: {
      schema: z.unknown().describe('Any JSON value. It becomes the output of the trigger.'),
      required: true,
    },
    answers: {
      200: accepted('The event is stored. Where the workflow has a response node, its run has succeeded.'),
      202: accepted('The event was accepted before, and its run has ended.'),
      default: {
        description: 'What the response node of the workflow defines.',
        content: { '*/*': undefined },
      },
    },
    problems: [
      ...(['not-found', 'not-ready', 'too-many-requests', 'unverified', 'callers-unverifiable'] as const),
      ...BODY,
      ...SUBMISSION,
      ...(['too-many-waiting', 'run-failed', 'reply-timeout', 'outcome-unknown'] as const),
    ],
  },
  sendToBot: {
    listener: 'public',
    method: 'POST',
    path: '/bot/{credential}',
    summary: 'Takes what a messaging service says happened to a bot',
    description:
      "Telegram shows the secret that was given with the registration, Slack signs with the app's signing secret. A message starts a run of the workflow that has the bot; the same update or event is the same run.",
    headers: z.object({
      'X-Telegram-Bot-Api-Secret-Token': z.string().optional().describe('Telegram: the secret.'),
      'X-Slack-Request-Timestamp': z
        .string()
        .optional()
        .describe('Slack: the time of signing, in Unix seconds.'),
      'X-Slack-Signature': z.string().optional().describe('Slack: "v0=" and the signature in hex.'),
    }),
    body: {
      schema: z.unknown().describe('An Update of Telegram, or a request of the Events API of Slack.'),
      required: true,
    },
    answers: {
      200: {
        description:
          'The message is stored; or it is none that the workflow wants, and the object is empty; or, as text, the challenge that Slack asks for.',
        content: { [JSON_TYPE]: botAnswer, [TEXT]: z.string() },
      },
    },
    problems: [
      ...(['not-found', 'not-ready', 'too-many-requests', 'unverified', 'callers-unverifiable'] as const),
      ...BODY,
      ...(['too-many-runs', 'run-store-full', 'run-store-unavailable'] as const),
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
          'Becomes the output of the trigger, whatever the trigger is. Left out: {}, in a test run the test data.',
        ),
      required: false,
    },
    answers: {
      200: { ...viewed('The run has ended, in whatever phase.'), ...STARTED },
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
    summary: 'The runs of a workflow, newest first',
    right: { verb: 'list', resource: 'workflowruns', on: 'namespace' },
    query: listQuery,
    answers: { 200: { description: 'A page of runs.', content: { [JSON_TYPE]: runPage } } },
    problems: [...ADMISSION, 'workflow-unknown', 'bad-query', 'not-ready', 'run-unavailable'],
  },
  readRun: {
    listener: 'internal',
    method: 'GET',
    path: '/workflows/{id}/runs/{run}',
    summary: 'A run and what its nodes produced',
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
      202: accepted('The runner that holds it is asked to end it.'),
      204: { description: 'The run is cancelled.' },
    },
    problems: [...ONE_RUN, 'run-ended'],
  },
  followRun: {
    listener: 'internal',
    method: 'GET',
    path: '/workflows/{id}/runs/{run}/events',
    summary: 'The live events of a run',
    right: run('get'),
    headers: z.object({
      'Last-Event-ID': z
        .string()
        .optional()
        .describe('The events after this one. Left out: from the first one.'),
    }),
    answers: {
      200: {
        description: 'Server-sent events; ends after the one that ends the run.',
        content: { 'text/event-stream': runEvent },
      },
      204: { description: 'There is no event after that one, and none will come.' },
    },
    problems: [...ONE_RUN, 'too-many-waiting'],
  },
  connectCredential: {
    listener: 'internal',
    method: 'POST',
    path: '/credentials/{credential}/connect',
    summary: 'A link that connects a credential of kind oauth2',
    description:
      'Whoever follows the link signs in at the provider and gives the credential access to the account. It can be followed once, and within ten minutes.',
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
    summary: 'Says who asks for which account',
    description: 'It can be opened as often as somebody likes, until the link was followed.',
    answers: {
      200: page('Who asks, for which credential, and where it goes on.'),
      404: page('The link was followed before, is too old, or is none.'),
      503: page('Not now.'),
    },
    problems: [],
  },
  followLink: {
    listener: 'public',
    method: 'GET',
    path: '/oauth/connect/{link}/continue',
    summary: 'Leads the browser of a person to the provider, once',
    answers: {
      303: {
        description: "The provider's page, and a cookie without which its answer does not count.",
        headers: { Location: "The provider's page.", 'Set-Cookie': 'Binds the browser for ten minutes.' },
      },
      404: page('The link was followed before, is too old, or is none.'),
      503: page('Not now.'),
    },
    problems: [],
  },
  finishConnect: {
    listener: 'public',
    method: 'GET',
    path: '/oauth/callback',
    summary: 'Takes what the provider answers, from the browser that opened the link',
    query: z.object({
      state: z.string().optional().describe('What the provider was given.'),
      code: z.string().optional().describe('What a token can be fetched with.'),
      iss: z.string().optional().describe('Who answers (RFC 9207).'),
      error: z.string().optional().describe('Why there is no code (RFC 6749, section 4.1.2.1).'),
    }),
    answers: {
      200: page('Taken, or what the provider said instead.'),
      400: page('The answer does not count.'),
      503: page('Not now.'),
    },
    problems: [],
  },
  makeSignInLink: {
    listener: 'internal',
    method: 'POST',
    path: '/console/links',
    summary: 'Gives a one-time link that signs in to the console as the caller, for ten minutes',
    description:
      "The token must be one for the API server, since the console asks it in the caller's name. What it may do, and until when, whoever opens the link may do.",
    anyToken: true,
    answers: {
      201: {
        description: 'A link. The page that it leads to asks before it signs in.',
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
    summary: 'This description',
    headers: z.object({
      'If-None-Match': z.string().optional().describe('The ETag of a description that the caller has.'),
    }),
    answers: {
      200: {
        description: 'An OpenAPI 3.1 document.',
        content: { [JSON_TYPE]: z.record(z.string(), z.unknown()) },
        headers: { ETag: 'Changes with the document.' },
      },
      304: { description: 'The caller has it.', headers: { ETag: 'Of the document that the caller has.' } },
    },
    problems: [],
  },
  live: {
    listener: 'internal',
    method: 'GET',
    path: '/healthz',
    summary: 'Whether the process turns',
    answers: { 200: told('It does.') },
    problems: [],
  },
  ready: {
    listener: 'internal',
    method: 'GET',
    path: '/readyz',
    summary: 'Whether this replica should be sent requests',
    answers: { 200: told('It should.'), 503: told('It should not; the body says why.') },
    problems: [],
  },
} as const satisfies Record<string, Operation>;
