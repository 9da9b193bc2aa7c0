/**
 * Follows one run to its end: live events, and after each ended node the run itself with its outputs. A
 * broken stream resumes after the last event, so that no event is handled twice.
 */
import { isTerminal } from '../../../api/phase.ts';
import type { RunView } from '../../../api/runView.ts';
import { call, callJson } from '../../http/call.ts';
import { failureFrom, type ApiFailure } from '../../http/failure.ts';
import { isAnswer } from './conversation.ts';
import { createLiveTexts, type LiveTexts } from './liveText.ts';
import {
  applyEvent,
  applyView,
  isEnded,
  NO_RUN,
  readLiveEvent,
  type LiveEvent,
  type RunState,
} from './runState.ts';
import type { RunHead } from './nodeView.ts';
import { runPath, type RunAt } from './runAt.ts';
import { createEventParser } from './sse.ts';

/** `broken`: the connection is lost and retried. `failed`: the run cannot be loaded. */
export type Followed = RunState & {
  connection: 'open' | 'broken' | 'ended' | 'failed';
  failure?: ApiFailure;
};

export type Follower = {
  get(): Followed;
  subscribe(listener: () => void): () => void;
  texts: LiveTexts;
  stop(): void;
};

export const NOT_FOLLOWED: Followed = { ...NO_RUN, connection: 'open' };

/** Outputs of nodes that end at about the same time are read together. */
const BATCH_MS = 120;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;

export function followRun(at: RunAt): Follower {
  const texts = createLiveTexts();
  const listeners = new Set<() => void>();
  const abort = new AbortController();
  const head: RunHead = {
    run: at.run,
    workflow: `${at.namespace}.${at.workflow}`,
    phase: 'Pending',
    test: false,
  };
  let followed = NOT_FOLLOWED;
  let isDue = false;

  function set(next: Partial<Followed>): void {
    followed = { ...followed, ...next };
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      for (const listener of listeners) listener();
    });
  }

  let gathering: ReturnType<typeof setTimeout> | undefined;
  const readSoon = (): void => {
    gathering ??= setTimeout(() => {
      gathering = undefined;
      // The read at the end catches up on failures here.
      read().catch(() => undefined);
    }, BATCH_MS);
  };

  async function read(): Promise<void> {
    const view = await callJson<RunView>(runPath(at), { signal: abort.signal });
    set(applyView(followed, view));
  }

  function take(event: LiveEvent): void {
    if (event.type === 'text') return texts.append(event.node, event.text, event);
    if (event.type === 'transcript' && isAnswer(event)) texts.restart(event.node);
    if (event.type === 'node' && event.phase === 'Running') texts.restart(event.node);
    set(applyEvent(followed, head, event));
    if (event.type === 'node' && isEnded(event.phase)) readSoon();
  }

  const hasEnded = (): boolean => isTerminal(followed.run?.phase);

  async function follow(): Promise<void> {
    let last: string | undefined;
    for (let wait = FIRST_WAIT_MS; ; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
      try {
        await read();
        if (hasEnded()) return set({ connection: 'ended' });
        set({ connection: 'open' });
        for await (const { id, event } of eventsOf(at, last, abort.signal)) {
          last = id;
          wait = FIRST_WAIT_MS;
          if (event !== undefined) take(event);
        }
        if (hasEnded()) continue;
      } catch (error) {
        if (abort.signal.aborted) return;
        const failure = failureFrom(error);
        if (failure.status === 404 || failure.status === 403) return set({ connection: 'failed', failure });
        set({ connection: 'broken' });
      }
      await pause(wait, abort.signal);
    }
  }

  void follow();
  return {
    get: () => followed,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    texts,
    stop: () => {
      clearTimeout(gathering);
      abort.abort();
    },
  };
}

async function* eventsOf(
  at: RunAt,
  last: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<{ id: string; event: LiveEvent | undefined }> {
  const response = await call(`${runPath(at)}/events`, {
    accept: 'text/event-stream',
    signal,
    ...(last !== undefined && { headers: { 'last-event-id': last } }),
  });
  if (response.status === 204 || response.body === null) return;
  const take = createEventParser();
  for await (const text of response.body.pipeThrough(new TextDecoderStream()))
    for (const told of take(text)) yield { id: told.id, event: readLiveEvent(told) };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
