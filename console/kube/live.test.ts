/**
 * The stream of a page against a server that breaks it off, falls silent, refuses, and comes back. The clock
 * is the test's.
 */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { addWatch, followVisibility, livenessStore, reconnect, type LiveEvent, type Watch } from './live.ts';

type Stream = {
  body: { watches: { id: string; query: Record<string, string> }[] };
  signal: AbortSignal;
  write: (text: string) => void;
  end: () => void;
};
type Answer = 'stream' | 'away' | number;

let streams: Stream[];
let answer: Answer;
let removals: (() => void)[];

beforeEach(() => {
  vi.useFakeTimers();
  streams = [];
  removals = [];
  answer = 'stream';
  vi.stubGlobal('fetch', answerTo);
});
afterEach(() => {
  for (const remove of removals) remove();
  reconnect();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** A server that does what `answer` says. */
async function answerTo(_path: string, { body, signal }: { body: string; signal: AbortSignal }) {
  if (answer === 'away') throw new TypeError('fetch failed');
  if (typeof answer === 'number') return new Response('{}', { status: answer });
  const encoder = new TextEncoder();
  const readable = new ReadableStream<Uint8Array>({
    start: (controller) => {
      signal.addEventListener('abort', () => controller.error(signal.reason));
      streams.push({
        body: JSON.parse(body) as Stream['body'],
        signal,
        write: (text) => controller.enqueue(encoder.encode(text)),
        end: () => controller.close(),
      });
    },
  });
  return new Response(readable);
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

type Watched = Watch & { events: LiveEvent[]; expired: number };

function watched(path = '/list'): Watched {
  const watch: Watched = {
    path,
    table: false,
    resourceVersion: '5',
    events: [],
    expired: 0,
    onEvent: (event) => void watch.events.push(event),
    onExpired: () => void (watch.expired += 1),
  };
  removals.push(addWatch(watch));
  return watch;
}

const newest = (): Stream => {
  const stream = streams.at(-1);
  if (stream === undefined) throw new Error('no stream was asked for');
  return stream;
};
const idOf = (at = 0) => newest().body.watches[at]?.id ?? '';
const eventLine = (type: string, id = idOf()) => `${JSON.stringify({ id, event: { type, object: {} } })}\n`;
const endLine = (status: number, id = idOf()) => `${JSON.stringify({ id, end: { status } })}\n`;

test('watches that start together share one stream, and each gets its own events', async () => {
  const [first, second] = [watched('/a'), watched('/b')];
  await pass(50);
  expect(streams).toHaveLength(1);
  newest().write(eventLine('ADDED', idOf(1)) + eventLine('ERROR', idOf(0)) + eventLine('BOOKMARK', 'other'));
  await pass(10);
  expect(first.events.map(({ type }) => type)).toEqual(['ERROR']);
  expect(second.events.map(({ type }) => type)).toEqual(['ADDED']);
  expect(livenessStore.get()).toBe('live');
});

test('a watch that starts while the stream opens joins the next one, which continues where the first was', async () => {
  const first = watched('/a');
  await pass(50);
  first.resourceVersion = '9';
  watched('/b');
  await pass(50);
  expect(streams.map(({ signal }) => signal.aborted)).toEqual([true, false]);
  expect(newest().body.watches.map(({ query }) => query['resourceVersion'])).toEqual(['9', '5']);
});

test('a split line is one event, and an incomplete line is none', async () => {
  const watch = watched();
  await pass(50);
  const line = eventLine('ADDED');
  newest().write(line.slice(0, 9));
  await pass(10);
  expect(watch.events).toEqual([]);
  newest().write(line.slice(9) + line.slice(0, 12));
  await pass(3_000);
  newest().end();
  await pass(50);
  expect(watch.events).toHaveLength(1);
  expect(streams).toHaveLength(2);
});

test.each([403, 404, 410])('a watch that ends with %i is reported to its owner', async (status) => {
  const [watch, other] = [watched('/a'), watched('/b')];
  await pass(50);
  newest().write(endLine(status) + eventLine('ADDED') + eventLine('ADDED', idOf(1)));
  await pass(20_000);
  expect([watch.expired, watch.events.length, other.expired, other.events.length]).toEqual([1, 0, 0, 1]);
  expect(streams).toHaveLength(1);
});

test('a timed-out watch continues in a new stream', async () => {
  const watch = watched();
  await pass(3_000);
  watch.resourceVersion = '8';
  newest().write(endLine(200));
  await pass(50);
  expect(newest().body.watches[0]?.query).toEqual({ resourceVersion: '8' });
  expect([streams.length, watch.expired, livenessStore.get()]).toEqual([2, 0, 'live']);
});

test.each<Answer>(['away', 500, 403])(
  'while the gateway answers %s the page is not live, and afterwards it is live again',
  async (how) => {
    answer = how;
    watched();
    await pass(100);
    expect(livenessStore.get()).toBe('broken');
    answer = 'stream';
    await pass(20_000);
    expect([streams.length, livenessStore.get()]).toEqual([1, 'live']);
  },
);

test.each<[string, () => void]>([
  ['ends each watch with 503', () => newest().write(endLine(503))],
  ['ends each watch at once', () => newest().write(endLine(200))],
  ['ends the stream at once', () => newest().end()],
  ['says what is no JSON', () => newest().write('<html>\n')],
])('if the gateway responds but %s, the page is not live and retries ever less often', async (_how, end) => {
  watched();
  const told = new Set<string>();
  let ended = 0;
  for (let second = 0; second < 60; second += 0.1) {
    await pass(100);
    if (streams.length > ended) end();
    ended = streams.length;
    if (second > 1) told.add(livenessStore.get());
  }
  expect([...told].toSorted()).toEqual(['broken', 'connecting']);
  expect(streams.length).toBeLessThan(9);
  await pass(20_000);
  expect(livenessStore.get()).toBe('live');
});

test('a silent stream is reopened', async () => {
  watched();
  await pass(50);
  for (let at = 0; at < 4; at += 1) {
    newest().write('{"alive":true}\n');
    await pass(15_000);
  }
  expect(streams).toHaveLength(1);
  await pass(30_000);
  expect(streams).toHaveLength(2);
  expect(streams[0]?.signal.aborted).toBe(true);
});

test('without watches nothing is requested and no interruption is reported', async () => {
  answer = 'away';
  watched();
  await pass(100);
  for (const remove of removals.splice(0)) remove();
  answer = 'stream';
  await pass(60_000);
  expect([streams.length, livenessStore.get()]).toEqual([0, 'paused']);
});

test('a page hidden for long requests nothing, and reconnects when it is shown', async () => {
  const page = Object.assign(new EventTarget(), { visibilityState: 'visible' });
  vi.stubGlobal('document', page);
  vi.stubGlobal('addEventListener', () => {});
  followVisibility();
  const turn = (state: string): void => {
    page.visibilityState = state;
    page.dispatchEvent(new Event('visibilitychange'));
  };
  watched();
  await pass(50);
  turn('hidden');
  await pass(10_000);
  turn('visible');
  await pass(50);
  expect(streams).toHaveLength(1);
  turn('hidden');
  // Asleep: the clock went on, and no timer did.
  vi.setSystemTime(Date.now() + 3_600_000);
  turn('visible');
  await pass(50);
  expect(streams).toHaveLength(2);
  turn('hidden');
  await pass(30_000);
  newest().write('{"alive":true}\n');
  await pass(31_000);
  expect([newest().signal.aborted, livenessStore.get()]).toEqual([true, 'paused']);
  turn('visible');
  await pass(50);
  expect([streams.length, livenessStore.get()]).toEqual([3, 'live']);
});
