/**
 * Models and mail servers that fail in every way there is: retried, failed or unknown as declared, and the
 * run says why.
 */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Runner } from '../../../runner/runner.ts';
import { connectRunStore } from '../../../store/connection.ts';
import type { NodeState } from '../../../runs/types/node.ts';
import type { RunState } from '../../../runs/types/run.ts';
import { startMailServer, type MailFault } from '../../support/providers/mail/mailServer.ts';
import { startModelServer, type ModelFault } from '../../support/providers/model/modelServer.ts';
import { startRedis } from '../../support/runStore/redis.ts';
import { openTestProject, startTestRunner } from '../../support/runner/runnerProject.ts';

const redis = await startRedis();
const model = await startModelServer();
const mailbox = await startMailServer();
const sockets = new Set<Socket>();
const stranger = await listening((socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'));
const silent = await listening(() => undefined);
const nobody = await listening(() => undefined);
await new Promise((resolve) => nobody.close(resolve));
const conn = connectRunStore({ url: redis.url, name: 'test' });
const project = await openTestProject(conn);
const llm = (port: number) => ({
  spec: {
    openai: { baseURL: `http://127.0.0.1:${port}/v1`, apiKeyRef: { name: 's', key: 'apiKey' } },
  },
});
const smtp = (port: number) => ({
  spec: { smtp: { host: '127.0.0.1', port, tls: 'None', from: 'orders@example.com' } as const },
});
let runner: Runner;

async function listening(onSocket: (socket: Socket) => void): Promise<Server & { port: number }> {
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    onSocket(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(server, { port: (server.address() as AddressInfo).port });
}

beforeAll(() => {
  runner = startTestRunner(conn, project.uid, {
    credentials: {
      llm: llm(model.port),
      'llm-silent': llm(silent.port),
      'llm-nobody': llm(nobody.port),
      smtp: smtp(mailbox.smtpPort),
      'smtp-stranger': smtp(stranger.port),
      'smtp-nobody': smtp(nobody.port),
    },
  });
});
beforeEach(() => {
  model.requests.length = 0;
  mailbox.messages.length = 0;
  model.setFault(undefined);
  mailbox.setFault(undefined);
});
afterAll(async () => {
  await runner.stop(0);
  for (const socket of sockets) socket.destroy();
  for (const server of [stranger, silent]) server.close();
  await conn.close();
  await Promise.all([model.close(), mailbox.close(), redis.stop()]);
});

const retry = { limit: 1, backoff: { initial: '5ms', max: '5ms' } };
/** For servers that answer in some way. The first step of a kind also loads the library of that kind. */
const patient = { timeout: '20s', retry };
/** For those that do not: enough to have asked. */
const impatient = { timeout: '1s', retry };
const timeoutIs = (cause: RegExp) => (cause.source.startsWith('longer') ? impatient : patient);
const trigger = { id: 'trigger', webhook: { path: 'orders' } };
const agent = (credential: string, extra: object = patient) => ({
  id: 'ask',
  agent: { credential, model: 'demo', prompt: 'Say hello' },
  ...extra,
});
const mail = (credential: string, extra: object = patient) => ({
  id: 'tell',
  skill: {
    name: 'send_email',
    credential,
    parameters: { to: 'ada@example.com', subject: 's', body: 'b' },
  },
  ...extra,
});

async function executed(step: object): Promise<{ state: RunState; node: NodeState }> {
  const revision = await project.deploy([trigger, step]);
  const state = await project.ended(await project.send(revision, {}), 25_000);
  const node = state.nodes.find(({ id }) => id !== 'trigger');
  if (!node) throw new Error('the step was never begun');
  return { state, node };
}

/** The run's reason and message name the node and the cause, as the node does. */
function expectNamed({ state, node }: { state: RunState; node: NodeState }, cause: RegExp): void {
  expect(state.message).toMatch(new RegExp(`^node ${node.id}: `));
  expect(state.message).toContain(node.message);
  expect(node.message).toMatch(cause);
  expect(state.message).not.toContain('test-secret');
}

type Failing = [fault: ModelFault, reason: string, attempts: number, cause: RegExp];

test.for<Failing>([
  ['error-500', 'UpstreamError', 2, /model's server failed: .*had an error/],
  ['rate-limit', 'RateLimited', 2, /asks to wait: .*Rate limit reached/],
  ['not-found', 'Refused', 1, /refused the request: .*does not exist/],
  ['garbage', 'InvalidAnswer', 2, /not a stream of chat chunks/],
  ['bad-json', 'InvalidAnswer', 2, /cannot be read/],
  ['nothing', 'InvalidAnswer', 2, /not a stream of chat chunks/],
  ['reset', 'Unreachable', 2, /did not answer/],
  ['half-stream', 'Unreachable', 2, /ended before the model was done/],
  ['cut-stream', 'Unreachable', 2, /lost during the answer|ended before|did not answer/],
  ['hang', 'Timeout', 2, /longer than its timeout of 1 s/],
  ['stall', 'Timeout', 2, /longer than its timeout of 1 s/],
  ['one-byte-a-second', 'Timeout', 2, /longer than its timeout of 1 s/],
  ['endless-chunks', 'Timeout', 2, /longer than its timeout of 1 s/],
])(
  'a model that does "%s" fails the run with %s after %i attempts',
  async ([fault, reason, attempts, cause]) => {
    model.setFault(fault);
    const { state, node } = await executed(agent('llm', timeoutIs(cause)));
    expect(state).toMatchObject({ phase: 'Failed', reason: 'NodeFailed' });
    expect(node).toMatchObject({ phase: 'Failed', reason, attempts });
    expectNamed({ state, node }, cause);
    const keys = model.requests.map(({ idempotencyKey }) => idempotencyKey);
    const base = `${project.uid}/${state.run}/ask`;
    expect(keys).toEqual([`${base}/1`, `${base}/2`].slice(0, attempts));
  },
);

test.for<Failing>([
  ['endless-text', 'OutputTooLarge', 1, /more than 524288 characters/],
  ['endless-line', 'OutputTooLarge', 1, /answer of the model's server is too large/],
  ['endless-error', 'UpstreamError', 2, /model's server failed: /],
])(
  'a model that does "%s" fails the run with %s, in bounded memory',
  async ([fault, reason, attempts, cause]) => {
    model.setFault(fault);
    const ended = await executed(agent('llm'));
    expect(ended.node).toMatchObject({ phase: 'Failed', reason, attempts });
    expectNamed(ended, cause);
  },
);

test.for<[credential: string, reason: string, cause: RegExp]>([
  ['llm-silent', 'Timeout', /longer than its timeout/],
  ['llm-nobody', 'Unreachable', /ECONNREFUSED/],
])('a model behind %s fails the run with %s', async ([credential, reason, cause]) => {
  const ended = await executed(agent(credential, timeoutIs(cause)));
  expect(ended.node).toMatchObject({ phase: 'Failed', reason, attempts: 2 });
  expectNamed(ended, cause);
});

test.for<ModelFault>(['error-500', 'rate-limit', 'garbage', 'half-stream', 'cut-stream', 'reset', 'nothing'])(
  'a model that does "%s" once is asked again, with the next key, and the run succeeds',
  async (fault) => {
    model.setFault(fault, 1);
    const { state, node } = await executed(agent('llm'));
    expect(state.phase).toBe('Succeeded');
    expect(node).toMatchObject({ attempts: 2, output: { text_content: 'You said: Say hello' } });
    expect(node.reason).toBeUndefined();
    expect(model.requests.map(({ idempotencyKey }) => idempotencyKey?.at(-1))).toEqual(['1', '2']);
    const waited = (node.endedAt ?? 0) - (node.startedAt ?? 0);
    expect(waited).toBeGreaterThanOrEqual(fault === 'rate-limit' ? 1_000 : 5);
  },
);

test('an agent that must not be repeated is not, when the model may have answered', async () => {
  model.setFault('cut-stream');
  const { state, node } = await executed(agent('llm', { ...patient, effect: 'AtMostOnce' }));
  expect(state).toMatchObject({ phase: 'Failed', reason: 'EffectUnknown' });
  expect(node).toMatchObject({ phase: 'Unknown', attempts: 1 });
  expectNamed({ state, node }, /may have answered, so it is not repeated/);
});

test.for<[fault: MailFault, reason: string, attempts: number, cause: RegExp]>([
  ['refuse-connection', 'Refused', 1, /554/],
  ['refuse-sender', 'Refused', 1, /554/],
  ['refuse', 'Refused', 1, /550/],
  ['refuse-data', 'Refused', 1, /554/],
  ['defer-connection', 'UpstreamError', 2, /451/],
  ['defer-sender', 'UpstreamError', 2, /451/],
  ['defer', 'UpstreamError', 2, /451/],
  ['defer-data', 'UpstreamError', 2, /451/],
  ['drop-connection', 'Unreachable', 2, /no answer from the mail server 127\.0\.0\.1/],
  ['drop-sender', 'Unreachable', 2, /no answer from the mail server 127\.0\.0\.1/],
  ['drop-at-data', 'Unreachable', 2, /no answer from the mail server 127\.0\.0\.1/],
  ['drop', 'Unreachable', 2, /no answer from the mail server 127\.0\.0\.1/],
  ['hang-connection', 'Timeout', 2, /longer than its timeout of 1 s/],
  ['hang-sender', 'Timeout', 2, /longer than its timeout of 1 s/],
  ['hang', 'Timeout', 2, /longer than its timeout of 1 s/],
])(
  'a mail server that does "%s" fails the run with %s after %i attempts, and no mail is sent',
  async ([fault, reason, attempts, cause]) => {
    mailbox.setFault(fault);
    const before = mailbox.connections();
    const { state, node } = await executed(mail('smtp', timeoutIs(cause)));
    expect(state).toMatchObject({ phase: 'Failed', reason: 'NodeFailed' });
    expect(node).toMatchObject({ phase: 'Failed', reason, attempts });
    expectNamed({ state, node }, cause);
    expect(mailbox.connections() - before).toBe(attempts);
    expect(mailbox.messages).toEqual([]);
  },
);

test.for<[credential: string, reason: string, cause: RegExp]>([
  ['smtp-nobody', 'Unreachable', /ECONNREFUSED/],
  ['smtp-stranger', 'Unreachable', /no answer from the mail server|greeting/i],
])('a mail server that is %s fails the run with %s', async ([credential, reason, cause]) => {
  const ended = await executed(mail(credential));
  expect(ended.node).toMatchObject({ phase: 'Failed', reason, attempts: 2 });
  expectNamed(ended, cause);
});

test.for<MailFault>(['drop-in-data', 'hang-after-data', 'drop-after-data'])(
  'a mail server that does "%s" leaves the node Unknown, and the mail is not sent again',
  async (fault) => {
    mailbox.setFault(fault);
    const before = mailbox.connections();
    const { state, node } = await executed(mail('smtp', fault === 'hang-after-data' ? impatient : patient));
    expect(state).toMatchObject({ phase: 'Failed', reason: 'EffectUnknown' });
    expect(node).toMatchObject({ phase: 'Unknown', reason: 'EffectUnknown', attempts: 1 });
    expectNamed({ state, node }, /may have taken the mail, so it is not repeated/);
    expect(mailbox.connections() - before).toBe(1);
  },
);

test('a mail that may be sent twice is, where its fate is not known, each attempt with a Message-ID of its own', async () => {
  mailbox.setFault('drop-after-data');
  const { node } = await executed(mail('smtp', { ...patient, effect: 'AtLeastOnce' }));
  expect(node).toMatchObject({ phase: 'Failed', reason: 'Unreachable', attempts: 2 });
  expect(mailbox.messages).toHaveLength(2);
  expect(new Set(mailbox.messages.map(({ messageId }) => messageId)).size).toBe(2);
});
