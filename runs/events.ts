/**
 * Live events of a run, for people who watch it. They are bounded (1,000 entries, 256 KiB), expire ten
 * minutes after the end, and never delay a run or fail it: the run itself has all that counts.
 */
import { isTerminal } from '../api/phase.ts';
import type { TranscriptEntry } from '../api/transcript.ts';
import {
  isUnavailable,
  orUnavailable,
  type RunStoreConnection,
  type Unavailable,
} from '../store/connection.ts';
import { keysOf, type ProjectUid } from '../store/keys.ts';
import { NOW } from '../store/lua.ts';
import { defineScript } from '../store/script.ts';
import { createSignal } from '../store/signal.ts';
import { EVENTS, FENCE, MISSING_RUN, MISSING_RUN_KEYS } from './lua.ts';
import { scriptKeys } from './scriptKeys.ts';
import { transcriptEvents } from './transcript.ts';
import type { ClaimRef, Fenced } from './types/claim.ts';
import type { RunEvent, RunEventBody } from './types/event.ts';

/**
 * Refused when the memory is full, and without effect where the project's quota is used up: live events are
 * dropped first.
 */
const APPEND = defineScript({
  transitions: ['claimed > none', 'overLimit > ready'],
  keys: ['meta', 'run', ...MISSING_RUN_KEYS],
  args: ['run_id', 'token'],
  lists: { added: { args: ['event'] } },
  answers: { fenced: "the claim is not the caller's", '0, 1': 'done; 1 where the run is to be cancelled' },
  body: `
    ${FENCE}
    -- Events would create the hash of a missing run again, for ever.
    if redis.call('EXISTS', run) == 0 then
      ${MISSING_RUN}
      return fail_missing(run_id)
    end
    local bytes, quota = unpack(redis.call('HMGET', meta, 'bytes', 'quota'))
    if not quota or tonumber(bytes or 0) < tonumber(quota) then
      ${NOW}
      local event_count, event_bytes = unpack(redis.call('HMGET', run, 'evcount', 'evbytes'))
      event_count, event_bytes = event_count or 0, event_bytes or 0
      ${EVENTS}
      for _, event in added() do emit(event) end
      write_events()
      redis.call('HSET', run, 'evcount', event_count, 'evbytes', event_bytes)
      redis.call('PUBLISH', run, 'event')
    end
    return redis.call('SISMEMBER', cancels, run_id)
  `,
});

/** Events are numbered, and the oldest are dropped first. */
const READ = defineScript({
  flags: 'reads',
  keys: ['events'],
  args: ['after', 'limit'],
  answers: 'the stored events after that number',
  body: `
    local first = redis.call('LINDEX', events, 0)
    if not first then return {} end
    local start = math.max(0, after + 1 - tonumber(string.match(first, '^%d+')))
    return redis.call('LRANGE', events, start, start + limit - 1)
  `,
});

/** A longer text becomes several events of this many characters, so that the limit can drop some of them. */
const TEXT_LENGTH = 16_384;
const JOIN_MS = 50;
const POLL_MS = 1_000;
const PAGE = 200;

/** Adds live events to a run that the runner holds. `advance` adds events of nodes and runs itself. */
export function appendEvents(
  conn: RunStoreConnection,
  ref: ClaimRef,
  events: RunEventBody[],
): Promise<Fenced> {
  const texts = events.map((event) => JSON.stringify(event));
  return orUnavailable(async () => {
    const answer = await conn.script(APPEND, scriptKeys(APPEND, ref), [ref.run, ref.token, ...texts]);
    return answer === 'fenced' ? { outcome: 'fenced' } : { outcome: 'done', cancelRequested: answer === 1 };
  });
}

/** The events after that one, at most `limit`, oldest first. */
export function readEvents(
  conn: RunStoreConnection,
  project: ProjectUid,
  run: string,
  { after, limit }: { after?: string; limit: number },
): Promise<RunEvent[] | Unavailable> {
  // The last event is named by the client: anything but a number starts from the beginning.
  const from = after !== undefined && /^\d{1,15}$/.test(after) ? Number(after) : 0;
  return orUnavailable(async () => {
    const lines = await conn.script(READ, [keysOf(project).events(run)], [from, limit]);
    return (lines as string[]).map(eventOf);
  });
}

/**
 * The events after that one, and then new ones as they come. Ends after the run's terminal event, when the
 * store has nothing of the run, and when the signal is aborted; continues through an outage of the store.
 */
export async function* followEvents(
  conn: RunStoreConnection,
  project: ProjectUid,
  run: string,
  { after, signal }: { after?: string; signal: AbortSignal },
): AsyncGenerator<RunEvent, void, undefined> {
  const news = createSignal();
  const subscription = await conn.subscriber().subscribe(keysOf(project).run(run), news.raise);
  signal.addEventListener('abort', news.raise, { once: true });
  try {
    let last = after;
    while (!signal.aborted) {
      // Before the read: once the run has ended, the read has all events.
      const over = await isOver(conn, project, run);
      const events = await readEvents(conn, project, run, { ...(last && { after: last }), limit: PAGE });
      if (!isUnavailable(events)) {
        for (const event of events) {
          yield event;
          last = event.id;
          if (event.type === 'run' && isTerminal(event.phase)) return;
        }
        if (over && events.length === 0) return;
        if (events.length === PAGE) continue;
      }
      await news.wait(POLL_MS);
    }
  } finally {
    signal.removeEventListener('abort', news.raise);
    subscription.end();
  }
}

export type EventWriter = {
  /** Adds text of a node. `call`: identifies the request to a model that brought it. */
  text(node: string, text: string, call?: string): void;
  /**
   * A request to a model begins, whose answer will have this position in the transcript of the agent. Text of
   * an earlier request for the same answer is void.
   */
  beginText(node: string, position?: number): void;
  /** Adds what changed in the transcript of the node; all of it where nothing of it was added before. */
  transcript(node: string, entries: readonly TranscriptEntry[]): void;
  /** Writes waiting events; resolves when all are written or dropped. */
  flush(): Promise<void>;
};

type TextEvent = RunEventBody & { type: 'text' };

/**
 * Writes the first text of each answer at once. Joins later events of a node over 50 ms: its text, and
 * changes of one entry of its transcript. Never delays or fails a run: events that cannot be written are
 * dropped. `delivery`: the epoch of the claim.
 */
export function createEventWriter(conn: RunStoreConnection, ref: ClaimRef, delivery: number): EventWriter {
  const numberOf = createCallNumbers();
  let waiting: RunEventBody[] = [];
  /** By node: what its next text begins with. */
  const begun = new Map<string, Pick<TextEvent, 'position' | 'reset'>>();
  const sent = new Map<string, readonly TranscriptEntry[]>();
  let written: Promise<unknown> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  const write = (): void => {
    const events = waiting.flatMap((event) => (event.type === 'text' ? textEvents(event) : [event]));
    waiting = [];
    // A failure here must not end a run whose effects are done.
    const append = appendEvents(conn, ref, events).catch(() => undefined);
    written = Promise.all([written, append]);
  };
  const join = (): void => {
    timer = setTimeout(() => {
      timer = undefined;
      if (waiting.length === 0) return;
      write();
      join();
    }, JOIN_MS);
  };
  return {
    text: (node, text, key = '') => {
      if (text === '') return;
      const { reset, ...place } = begun.get(node) ?? {};
      const { number: call, isNew } = numberOf(node, key);
      addText(waiting, {
        type: 'text',
        node,
        text,
        ...place,
        ...(reset && { reset }),
        call,
        delivery,
      });
      begun.set(node, place);
      if (timer !== undefined && !isNew) return;
      clearTimeout(timer);
      write();
      join();
    },
    beginText: (node, position) => {
      const place = position === undefined ? {} : { position };
      const before = begun.get(node);
      // The first request after a takeover may repeat one of another runner.
      const isRepeated = before ? before.position === position : position !== undefined;
      waiting = waiting.filter((event) => !isTextOf(event, node, position));
      begun.set(node, { ...place, ...(isRepeated && { reset: true }) });
    },
    transcript: (node, entries) => {
      for (const event of transcriptEvents(node, entries, sent.get(node))) {
        const at = waiting.findIndex((each) => isEntryOf(each, event));
        if (at < 0) waiting.push(event);
        else waiting[at] = { ...waiting[at], ...event };
      }
      sent.set(node, entries);
      if (waiting.length > 0 && timer === undefined) join();
    },
    flush: async () => {
      clearTimeout(timer);
      timer = undefined;
      if (waiting.length > 0) write();
      await written;
    },
  };
}

/** Numbers the calls of each node from 1: a call that follows another one has the next number. */
function createCallNumbers(): (node: string, key: string) => { number: number; isNew: boolean } {
  const latest = new Map<string, { key: string; number: number }>();
  return (node, key) => {
    const before = latest.get(node);
    if (before?.key === key) return { number: before.number, isNew: false };
    const number = (before?.number ?? 0) + 1;
    latest.set(node, { key, number });
    return { number, isNew: true };
  };
}

function addText(waiting: RunEventBody[], { text, ...added }: TextEvent): void {
  const last = waiting.findLast((event) => 'node' in event && event.node === added.node);
  if (last?.type === 'text' && last.position === added.position && last.call === added.call)
    last.text += text;
  else waiting.push({ ...added, text });
}

function isTextOf(event: RunEventBody, node: string, position: number | undefined): boolean {
  return event.type === 'text' && event.node === node && event.position === position;
}

function isEntryOf(event: RunEventBody, { node, position }: { node: string; position: number }): boolean {
  return event.type === 'transcript' && event.node === node && event.position === position;
}

function textEvents({ text, reset, ...event }: TextEvent): RunEventBody[] {
  const events: RunEventBody[] = [];
  for (let at = 0; at < text.length; at += TEXT_LENGTH)
    events.push({ ...event, text: text.slice(at, at + TEXT_LENGTH), ...(reset && at === 0 && { reset }) });
  return events;
}

function eventOf(line: string): RunEvent {
  const [, id = '', at, text = '{}'] = line.match(/^(\d+) (\d+) (.*)$/s) ?? [];
  return { ...(JSON.parse(text) as RunEventBody), id, at: Number(at) };
}

/** Whether the run has ended or is gone; false in an outage. */
async function isOver(conn: RunStoreConnection, project: ProjectUid, run: string): Promise<boolean> {
  const phase = await orUnavailable(() => conn.command('hget', keysOf(project).run(run), 'phase'));
  return phase === null || isTerminal(phase as string);
}
