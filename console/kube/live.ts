/**
 * The stream of all watches of a page (`POST /console/live`), since browsers open few connections to a host.
 * It reopens when the watches change, when it breaks, and when a hidden page becomes visible.
 */
import { call } from '../http/call.ts';
import { ApiFailure } from '../http/failure.ts';

export type LiveEvent = { type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'; object: unknown };

export type Watch = {
  /** The path of the list at the API server. */
  path: string;
  fieldSelector?: string;
  labelSelector?: string;
  table: boolean;
  /** Where the watch continues. The owner of the watch updates it with each event. */
  resourceVersion: string;
  onEvent: (event: LiveEvent) => void;
  /** Missed events are no longer available, or the watch is refused: list again. */
  onExpired: () => void;
};

/** `paused`: nothing is watched, or the page is hidden. */
export type Liveness = 'live' | 'connecting' | 'broken' | 'paused';

const MAX_WAIT_MS = 15_000;
/** Watches that start within this time share one request. */
const BATCH_MS = 30;
/** The stream sends something every 15 s. */
const SILENCE_MS = 40_000;
/** A stream that ends sooner has shown no success: the API server may be down while the gateway responds. */
const SHORT_MS = 2_000;
/** The stream of a hidden page closes after this time. */
const HIDDEN_MS = 60_000;

const watches = new Map<string, Watch>();
const listeners = new Set<() => void>();
// Without watches nothing can be out of date.
let liveness: Liveness = 'paused';
let lastId = 0;
let stream: AbortController | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;
let failures = 0;
/** Wall-clock time of the last message. It continues while a machine sleeps. */
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

/** Adds a watch to the stream. Returns a function that removes it. */
export function addWatch(watch: Watch): () => void {
  lastId += 1;
  const id = `w${lastId}`;
  watches.set(id, watch);
  reopen(BATCH_MS);
  return () => {
    watches.delete(id);
    // Events for removed watches are dropped, so there is no need to reconnect at once.
    if (watches.size === 0) pause();
  };
}

/** Reconnects at once, for example after a sign-in. */
export function reconnect(): void {
  failures = 0;
  reopen(0);
}

function setLiveness(next: Liveness): void {
  if (next === liveness) return;
  liveness = next;
  for (const listener of listeners) listener();
}

/** Closes the stream without reporting an interruption. */
function pause(): void {
  close();
  setLiveness('paused');
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
  if (liveness !== 'live') setLiveness('connecting');
  openedAt = Date.now();
  try {
    await readStream(own);
    if (own.signal.aborted) return;
    if (isShort()) retryLater();
    else reopen(0);
  } catch (error) {
    if (own.signal.aborted && own.signal.reason !== SILENT) return;
    // After a sign-out the next call asks the user to sign in.
    const isRefused = error instanceof ApiFailure && error.status === 403;
    retryLater(isRefused ? MAX_WAIT_MS : undefined);
  }
}

function isShort(): boolean {
  return Date.now() - openedAt < SHORT_MS;
}

/** The delay grows with each consecutive failure. */
function retryLater(waitMs = Math.min(MAX_WAIT_MS, 500 * 2 ** Math.min(failures + 1, 5))): void {
  failures += 1;
  setLiveness('broken');
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
  // After a failure a response alone proves nothing: its watches may end at once.
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
  setLiveness('live');
}

type Line = { id?: string; event?: LiveEvent; end?: { status: number } };

function take(text: string): void {
  const { id = '', event, end } = JSON.parse(text) as Line;
  const watch = watches.get(id);
  if (watch === undefined) return;
  if (event !== undefined) watch.onEvent(event);
  else if (end !== undefined) endWatch(id, watch, end.status);
}

/** Ends a watch: a timed-out one continues, a refused one is reported to its owner. */
function endWatch(id: string, watch: Watch, status: number): void {
  if (status < 400 && !isShort()) return reopen(BATCH_MS);
  // The API server is unavailable or the session expired: reopen the stream, which asks for a sign-in.
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

/** Pauses the stream while the page is hidden. Call it once. */
export function followVisibility(): void {
  document.addEventListener('visibilitychange', () => {
    clearTimeout(hiddenTimer);
    if (document.visibilityState === 'hidden') {
      hiddenTimer = setTimeout(pause, HIDDEN_MS);
    } else if (liveness !== 'live' || Date.now() - heardAt > SILENCE_MS) reconnect();
  });
  globalThis.addEventListener('online', () => reconnect());
}
