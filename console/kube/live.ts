/**
 * What is shown stays current: all watches of a page share one stream (`POST /console/live`), since browsers open few connections to
 * a host. It is opened anew when the watches change, when it breaks, and when the page is shown again after it was hidden.
 */
import { call } from '../http/call.ts';
import { ApiFailure } from '../http/failure.ts';

export type LiveEvent = { type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'; object: unknown };

export type Watch = {
  /** The path of the list, as the API server knows it. */
  path: string;
  fieldSelector?: string;
  labelSelector?: string;
  table: boolean;
  /** Where the watch goes on from; whoever watches moves it with each event. */
  resourceVersion: string;
  onEvent: (event: LiveEvent) => void;
  /** What was missed cannot be told any more, or the watch is refused: list again. */
  onExpired: () => void;
};

/** `paused`: the page is hidden, so that nothing is asked for. */
export type Liveness = 'live' | 'connecting' | 'broken' | 'paused';

const MAX_WAIT_MS = 15_000;
/** Watches of one page are asked for at once: what follows within this time joins. */
const GATHER_MS = 30;
/** The stream says something every 15 s. */
const SILENCE_MS = 40_000;
/** A stream that ends sooner has told nothing: the API server is away behind a gateway that answers. */
const SHORT_MS = 2_000;
/** A hidden page is left alone after this time. */
const HIDDEN_MS = 60_000;

const watches = new Map<string, Watch>();
const listeners = new Set<() => void>();
// Where nothing is watched, nothing is old.
let liveness: Liveness = 'paused';
let lastId = 0;
let stream: AbortController | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;
let failures = 0;
/** When the stream last said something, by the clock on the wall, which goes on while a machine sleeps. */
let heardAt = 0;
let openedAt = 0;

/** How live the page is, for `useSyncExternalStore`. */
export const livenessStore = {
  get: (): Liveness => liveness,
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};

/** Adds a watch to the stream. Returns what takes it away. */
export function addWatch(watch: Watch): () => void {
  lastId += 1;
  const id = `w${lastId}`;
  watches.set(id, watch);
  reopen(GATHER_MS);
  return () => {
    watches.delete(id);
    // An event for nobody is dropped: no need to ask anew at once.
    if (watches.size === 0) rest();
  };
}

/** Begins anew at once, such as after a sign-in. */
export function reconnect(): void {
  failures = 0;
  reopen(0);
}

function say(next: Liveness): void {
  if (next === liveness) return;
  liveness = next;
  for (const listener of listeners) listener();
}

/** Asks for nothing: what is not followed is not said to be interrupted. */
function rest(): void {
  close();
  say('paused');
}

function close(): void {
  clearTimeout(timer);
  stream?.abort();
  stream = undefined;
}

function reopen(afterMs: number): void {
  clearTimeout(timer);
  timer = setTimeout(() => {
    close();
    if (watches.size === 0) return;
    const own = new AbortController();
    stream = own;
    void follow(own);
  }, afterMs);
}

async function follow(own: AbortController): Promise<void> {
  if (liveness !== 'live') say('connecting');
  openedAt = Date.now();
  try {
    await readStream(own);
    if (own.signal.aborted) return;
    if (isShort()) retryLater();
    else reopen(0);
  } catch (error) {
    if (own.signal.aborted && own.signal.reason !== SILENT) return;
    // Whoever has signed out is asked to sign in by the next call.
    const isRefused = error instanceof ApiFailure && error.status === 403;
    retryLater(isRefused ? MAX_WAIT_MS : undefined);
  }
}

function isShort(): boolean {
  return Date.now() - openedAt < SHORT_MS;
}

/** The wait grows with each failure in a row. */
function retryLater(waitMs = Math.min(MAX_WAIT_MS, 500 * 2 ** Math.min(failures + 1, 5))): void {
  failures += 1;
  say('broken');
  reopen(waitMs);
}

const SILENT = new Error('the stream was silent');

async function readStream(own: AbortController): Promise<void> {
  const asked = [...watches].map(([id, watch]) => ({
    id,
    path: watch.path,
    query: {
      resourceVersion: watch.resourceVersion,
      ...(watch.fieldSelector !== undefined && { fieldSelector: watch.fieldSelector }),
      ...(watch.labelSelector !== undefined && { labelSelector: watch.labelSelector }),
    },
    table: watch.table,
  }));
  const response = await call('/console/live', {
    method: 'POST',
    body: { watches: asked },
    accept: 'application/x-ndjson',
    signal: own.signal,
  });
  heardAt = Date.now();
  // After a failure an answer alone proves nothing: the watches behind it may end at once.
  const proof = setTimeout(proven, failures === 0 ? 0 : SHORT_MS);
  const silence = { timer: setTimeout(() => own.abort(SILENT), SILENCE_MS) };
  try {
    for await (const line of linesOf(response)) {
      clearTimeout(silence.timer);
      silence.timer = setTimeout(() => own.abort(SILENT), SILENCE_MS);
      heardAt = Date.now();
      take(line);
    }
  } finally {
    clearTimeout(silence.timer);
    clearTimeout(proof);
  }
}

function proven(): void {
  failures = 0;
  say('live');
}

type Line = { id?: string; event?: LiveEvent; end?: { status: number } };

function take(text: string): void {
  const { id = '', event, end } = JSON.parse(text) as Line;
  const watch = watches.get(id);
  if (watch === undefined) return;
  if (event !== undefined) watch.onEvent(event);
  else if (end !== undefined) endWatch(id, watch, end.status);
}

/** What is over: a watch whose time is up goes on, one that is refused is left to whoever asked for it. */
function endWatch(id: string, watch: Watch, status: number): void {
  if (status < 400 && !isShort()) return reopen(GATHER_MS);
  // The API server is away or goes, or the session has ended: the stream begins anew, and asks for a sign-in.
  if (status < 400 || status === 401 || status >= 500) throw new Error(`a watch ended with ${status}`);
  watches.delete(id);
  watch.onExpired();
}

async function* linesOf(response: Response): AsyncGenerator<string> {
  if (response.body === null) return;
  let rest = '';
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    yield* lines.filter((line) => line !== '');
  }
}

let hiddenTimer: ReturnType<typeof setTimeout> | undefined;

/** Leaves the gateway alone while nobody looks. Call it once. */
export function followVisibility(): void {
  document.addEventListener('visibilitychange', () => {
    clearTimeout(hiddenTimer);
    if (document.visibilityState === 'hidden') {
      hiddenTimer = setTimeout(rest, HIDDEN_MS);
    } else if (liveness !== 'live' || Date.now() - heardAt > SILENCE_MS) reconnect();
  });
  globalThis.addEventListener('online', () => reconnect());
}
