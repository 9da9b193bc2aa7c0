/** Starts and cancels runs, and holds the request to open the dialog of a test run. */
import { useSyncExternalStore } from 'react';
import { call, callJson, isPassing } from '../../http/call.ts';
import { runPath, type RunAt } from './runAt.ts';

/**
 * A requested test run of the whole workflow, up to a node, or of that node only, with the outputs that the
 * nodes before it have; undefined: none.
 */
export type TestRunRequest = { until?: string; isOnly?: boolean } | undefined;

let asked: TestRunRequest;
const listeners = new Set<() => void>();

/** Opens the dialog of a test run, for "Run to here" with the node to stop at, or of that node only. */
export function openTestDialog(until?: string, { isOnly = false } = {}): void {
  set(until === undefined ? {} : { until, ...(isOnly && { isOnly }) });
}

export function closeTestDialog(): void {
  set(undefined);
}

function set(next: TestRunRequest): void {
  asked = next;
  for (const listener of listeners) listener();
}

export function useTestRunRequest(): TestRunRequest {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => asked,
  );
}

export type TestRun = {
  namespace: string;
  workflow: string;
  until?: string;
  /** The trigger's output; for manual triggers its data only. */
  event: object;
  isOutput: boolean;
};

const TRIES = 3;

/**
 * Starts the run and returns its name. A repeated request after a lost response does not start a second run.
 * If the signal is aborted meanwhile, the run is cancelled.
 */
export async function startTestRun(
  { namespace, workflow, until, event, isOutput }: TestRun,
  signal: AbortSignal,
): Promise<string> {
  const id = encodeURIComponent(`${namespace}.${workflow}`);
  const query = new URLSearchParams({
    test: 'true',
    ...(until !== undefined && { until }),
    ...(isOutput && { as: 'output' }),
  });
  const headers = { 'idempotency-key': crypto.randomUUID() };
  for (let tried = 1; ; tried += 1) {
    try {
      const path = `/workflows/${id}/execute?${query}`;
      // Not aborted: only the answer names the run that has to be cancelled.
      const { run } = await callJson<{ run: string }>(path, { method: 'POST', body: event, headers });
      if (!signal.aborted) return run;
      await cancelRun({ namespace, workflow, run }).catch(() => undefined);
    } catch (error) {
      if (tried >= TRIES || !isPassing(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, 400 * tried));
    }
    signal.throwIfAborted();
  }
}

/** Cancels a run. Its record stays. */
export async function cancelRun(at: RunAt): Promise<void> {
  await call(runPath(at), { method: 'DELETE' });
}
