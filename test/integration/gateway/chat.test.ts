/** `/chat/{id}` of a real gateway, with a runner and a model whose answers the tests send. */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Runner } from '../../../runner/runner.ts';
import { setWorkflowLimits } from '../../../runs/limits.ts';
import { readRun } from '../../../runs/read.ts';
import { keysOf } from '../../../store/keys.ts';
import {
  newSession,
  restOf,
  sendMessage,
  startChatHarness,
  streamedEvents,
  TOKEN,
  wholeStream,
  type ChatHarness,
  type SentMessage,
} from '../../support/gateway/chatHarness.ts';
import { PROJECT, workflowUid } from '../../support/gateway/gatewayHarness.ts';
import { startTestRunner } from '../../support/runner/runnerProject.ts';
import { killRunner, QUICK, spawnRunner } from '../../support/runner/runnerProcess.ts';
import { pollUntil } from '../../support/time/poll.ts';

const LIMITS = {
  chatPerSession: { requestsPerSecond: 50, burst: 50 },
  chatPerAddress: { requestsPerSecond: 0 },
};

let harness: ChatHarness;
let runner: Runner | undefined;
let page: string;
beforeAll(async () => {
  harness = await startChatHarness({ env: { LIMITS: JSON.stringify(LIMITS) } });
  page = await harness.putChat('support');
});
afterAll(() => harness?.close());
beforeEach(() => {
  harness.model.pause(false);
  runner = startTestRunner(harness.runs, PROJECT, { credentials: harness.credentials });
});
afterEach(async () => {
  await runner?.stop(0);
});

const send = (sent?: SentMessage) => sendMessage(page, sent);
const typeOf = async (response: Response) =>
  ((await response.json()) as { type: string }).type.split('/').at(-1);
const json = { accept: 'application/json' };

/** The names of all runs of the chat. */
async function runsOf(workflow = 'support'): Promise<string[]> {
  const { runs } = keysOf(PROJECT);
  return (await harness.runs.command('zrange', runs(workflowUid(workflow)), 0, -1)) as string[];
}

test('a message is answered as a stream: text as it comes, and the whole answer at the end', async () => {
  harness.model.pause(true);
  const response = await send({ message: 'Where is my order?' });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  expect(response.headers.get('windlass-chat-session')).toMatch(/^[A-Za-z0-9_-]{43}$/);
  const events = streamedEvents(response);
  const asked = await harness.model.next();
  expect(asked.prompt).toBe('Where is my order?');
  asked.say('On its ');
  expect((await events.next()).value).toEqual({ event: 'text', data: { text: 'On its ' } });
  asked.say('way.');
  expect((await events.next()).value).toEqual({ event: 'text', data: { text: 'way.' } });
  asked.finish();
  expect((await events.next()).value).toEqual({ event: 'done', data: { text: 'On its way.' } });
  expect((await events.next()).done).toBe(true);
});

test('of the streams of one session four stay open: the oldest is interrupted', async () => {
  harness.model.pause(true);
  const sent = { message: 'Where?', id: 'where', session: newSession() };
  const responses: Response[] = [await send(sent)];
  const asked = await harness.model.next();
  for (let count = 0; count < 4; count += 1) responses.push(await send(sent));
  const [first, ...others] = responses.map((response) => wholeStream(response));
  await expect(first).rejects.toThrow('terminated');
  asked.say('Here.');
  asked.finish();
  for (const events of others)
    expect((await events).at(-1)).toEqual({ event: 'done', data: { text: 'Here.' } });
});

test('a program gets the answer as JSON', async () => {
  const response = await send({ message: 'Hi', ...json });
  expect([response.status, await response.json()]).toEqual([200, { text: 'You said: Hi' }]);
});

test('the trigger has the message and a name of the session that does not reveal its token', async () => {
  const session = newSession();
  const [first, second] = [
    await send({ message: 'one', session, ...json }),
    await send({ message: 'two', session, ...json }),
  ];
  expect([first.status, second.status]).toEqual([200, 200]);
  const states = await Promise.all(
    (await runsOf()).slice(-2).map((run) => readRun(harness.runs, PROJECT, run)),
  );
  const inputs = states.map((state) =>
    state && !('outcome' in state) ? (JSON.parse(state.input) as Record<string, never>) : undefined,
  );
  expect(inputs).toMatchObject([
    { text_content: 'one', data_content: { message: 'one' } },
    { text_content: 'two', data_content: { message: 'two' } },
  ]);
  const names = inputs.map((input) => (input?.['data_content'] as { session?: string } | undefined)?.session);
  expect(names[0]).toMatch(/^[A-Za-z0-9_-]{43}$/);
  expect(names[0]).toBe(names[1]);
  expect(JSON.stringify(inputs)).not.toContain(session);
});

test('a repeated message is the same run and gets its answer, while it is open and after it', async () => {
  harness.model.pause(true);
  const message = { message: 'Once', id: randomUUID(), session: newSession() };
  const before = harness.model.requests();
  const lost = new AbortController();
  const first = await send({ ...message, signal: lost.signal });
  const asked = await harness.model.next();
  asked.say('One ');
  expect((await streamedEvents(first).next()).value).toMatchObject({ event: 'text' });
  lost.abort();
  const again = streamedEvents(await send(message));
  expect((await again.next()).value).toEqual({ event: 'text', data: { text: 'One ' } });
  asked.say('run');
  asked.finish();
  const rest = await restOf(again);
  expect(rest.at(-1)).toEqual({ event: 'done', data: { text: 'One run' } });
  expect((await wholeStream(await send(message))).at(-1)).toEqual({
    event: 'done',
    data: { text: 'One run' },
  });
  expect(harness.model.requests() - before).toBe(1);
});

test('a message ID with another text is refused', async () => {
  const message = { id: randomUUID(), session: newSession(), ...json };
  expect((await send({ ...message, message: 'a' })).status).toBe(200);
  const other = await send({ ...message, message: 'b' });
  expect([other.status, await typeOf(other)]).toEqual([422, 'message-id-reused']);
});

test('a session has one open message at a time, and other sessions do not wait for it', async () => {
  harness.model.pause(true);
  const session = newSession();
  const open = await send({ session, id: 'open' });
  const asked = await harness.model.next();
  expect((await send({ session, id: 'open', message: 'Another text' })).status).toBe(422);
  const second = await send({ session, message: 'And now?' });
  expect([second.status, await typeOf(second)]).toEqual([409, 'message-open']);
  harness.model.pause(false);
  expect((await send({ session: newSession(), ...json })).status).toBe(200);
  asked.say('Yes');
  asked.finish();
  expect((await wholeStream(open)).at(-1)?.event).toBe('done');
  expect((await send({ session, message: 'And now?', ...json })).status).toBe(200);
});

test('the answer to an older message is there after a newer one, and opens the session for the next', async () => {
  const session = newSession();
  const old = { message: 'old', id: 'old', session, ...json };
  for (const sent of [
    old,
    { ...old, message: 'new', id: 'new' },
    old,
    { ...old, message: 'next', id: 'next' },
  ]) {
    const response = await send(sent);
    expect([response.status, await response.json()]).toEqual([200, { text: `You said: ${sent.message}` }]);
  }
});

test('a viewer learns neither why a run failed nor what other nodes say', async () => {
  harness.model.pause(true);
  const response = await send();
  (await harness.model.next()).fail();
  const events = await wholeStream(response);
  expect(events).toMatchObject([{ event: 'error', data: { title: 'No answer' } }]);
  expect(JSON.stringify(events)).not.toMatch(/secret|support-|"answer"/);
  const again = await send(json);
  (await harness.model.next()).fail();
  expect([again.status, await typeOf(again)]).toEqual([502, 'chat-failed']);
});

test('a viewer learns that a budget is used up, and not which one', async () => {
  const url = await harness.putChat('thrifty');
  const uid = workflowUid('thrifty');
  await setWorkflowLimits(harness.runs, PROJECT, {
    workflowUid: uid,
    policy: 'Queue',
    deadlineMs: 3_600_000,
    budget: { day: { tokens: 10 } },
  });
  const events = await wholeStream(await sendMessage(url));
  expect(events).toMatchObject([{ event: 'error', data: { title: 'Limit reached' } }]);
  expect(JSON.stringify(events)).not.toMatch(/token|budget|thrifty/);
});

test('another runner continues after a crash: the answer starts over, and its end has the whole of it', async () => {
  await runner?.stop(0);
  harness.model.pause(true);
  const settings = {
    url: harness.redis.url,
    project: PROJECT,
    runner: 'doomed',
    credentials: harness.credentials,
  };
  const doomed = await spawnRunner(settings);
  try {
    const events = streamedEvents(await send({ message: 'Twice' }));
    const first = await harness.model.next();
    first.say('Half an ');
    expect((await events.next()).value).toEqual({ event: 'text', data: { text: 'Half an ' } });
    await killRunner(doomed);
    runner = startTestRunner(harness.runs, PROJECT, { credentials: harness.credentials, takeover: QUICK });
    const second = await harness.model.next();
    second.say('A whole ');
    expect((await events.next()).value).toEqual({ event: 'reset', data: { text: 'A whole ' } });
    second.say('answer');
    second.finish();
    const rest = await restOf(events);
    expect(rest.at(-1)).toEqual({ event: 'done', data: { text: 'A whole answer' } });
  } finally {
    await killRunner(doomed);
  }
});

test('a response node answers instead of an agent', async () => {
  const reply = { id: 'reply', response: { body: "Reply to {{ $('trigger').text_content }}" } };
  const url = await harness.putChat('replies', {}, [reply]);
  const response = await sendMessage(url, { message: 'you', ...json });
  expect(await response.json()).toEqual({ text: 'Reply to you' });
});

test('with access Token only callers with the token may send messages', async () => {
  const tokenRefs = [{ name: 'chat', key: 'token' }];
  const url = await harness.putChat('closed', { access: 'Token', tokenRefs });
  await pollUntil(
    'the token',
    async () => (await sendMessage(url, { token: TOKEN, ...json })).status === 200,
    {
      timeoutMs: 10_000,
      everyMs: 50,
    },
  );
  for (const token of [undefined, 'wrong', `${TOKEN}x`]) {
    const refused = await sendMessage(url, { ...(token !== undefined && { token }) });
    expect([refused.status, await typeOf(refused)]).toEqual([401, 'unverified']);
  }
  expect(await (await fetch(url)).text()).toContain('data-access="token"');
});

test('wrong sessions and messages are refused before anything is stored', async () => {
  const before = (await runsOf()).length;
  const refusals: [SentMessage, number, string][] = [
    [{ session: 'forged' }, 400, 'bad-session'],
    [{ session: `${newSession()}x` }, 400, 'bad-session'],
    [{ body: '{' }, 400, 'bad-json'],
    [{ body: '[]' }, 422, 'bad-message'],
    [{ body: '{"__proto__":{},"message":"a","id":"b"}' }, 422, 'forbidden-key'],
    [{ message: ' \n' }, 422, 'bad-message'],
    [{ message: 7 }, 422, 'bad-message'],
    [{ message: 'x'.repeat(16_385) }, 422, 'bad-message'],
    [{ id: '../x' }, 422, 'bad-message'],
    [{ id: '' }, 422, 'bad-message'],
    [{ message: 'x'.repeat(1_048_576) }, 413, 'too-large'],
  ];
  for (const [sent, status, type] of refusals) {
    const response = await send(sent);
    expect([response.status, await typeOf(response)]).toEqual([status, type]);
  }
  expect((await runsOf()).length).toBe(before);
});

test('unknown chats, other methods and other types of content are refused', async () => {
  const unknown = page.replace(/[0-9a-f]{32}$/, '0'.repeat(32));
  expect((await fetch(unknown)).status).toBe(404);
  expect((await sendMessage(unknown)).status).toBe(404);
  expect((await fetch(page, { method: 'POST' })).status).toBe(405);
  expect((await fetch(`${page}/messages`)).status).toBe(405);
  const plain = await fetch(`${page}/messages`, { method: 'POST', body: 'Hello' });
  expect(plain.status).toBe(415);
});

test('the page runs nothing but its own script, sets no cookie, and is embedded by named sites alone', async () => {
  const alone = await fetch(page);
  const policy = alone.headers.get('content-security-policy') ?? '';
  expect(policy).toMatch(
    /^default-src 'none'; script-src 'sha256-[^ ]+'; style-src 'sha256-[^ ]+'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
  );
  expect(alone.headers.get('x-frame-options')).toBe('DENY');
  expect(alone.headers.get('set-cookie')).toBeNull();
  const shop = await harness.putChat('embedded', {
    title: '<b>Help</b>',
    welcome: '</script><script>alert(1)</script>',
    suggestions: ['"><img src=x>'],
    embedIn: ['https://shop.example.com', 'https://*.example.org'],
  });
  const embedded = await fetch(shop);
  expect(embedded.headers.get('content-security-policy')).toContain(
    'frame-ancestors https://shop.example.com https://*.example.org',
  );
  expect(embedded.headers.get('x-frame-options')).toBeNull();
  const text = await embedded.text();
  expect(text).toContain('<h1>&lt;b&gt;Help&lt;/b&gt;</h1>');
  expect(text).not.toMatch(/<img|<script>alert/);
});
