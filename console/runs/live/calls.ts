/** Starting a test run: what is asked for, from wherever in the editor, and the calls that start and cancel it. */
import { useSyncExternalStore } from 'react';
import { call, callJson, isPassing } from '../../http/call.ts';
import { runPath, type RunAt } from './follow.ts';

/** What is asked for: a test run of the whole workflow, or as far as a node. Undefined: nothing. */
export type TestRunAsked = { until?: string } | undefined;

let asked: TestRunAsked;
const listeners = new Set<() => void>();

/** Opens the dialog of the test run: of the whole workflow, or, for "Run to here", as far as a node. */
export function askForTestRun(until?: string): void {
  set(until === undefined ? {} : { until });
}

/** Closes it. */
export function dropTestRun(): void {
  set(undefined);
}

function set(next: TestRunAsked): void {
  asked = next;
  for (const listener of listeners) listener();
}

export function useTestRunAsked(): TestRunAsked {
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
  /** The trigger's output; of a manual trigger its data alone. */
  event: object;
  isOutput: boolean;
};

const TRIES = 3;

/** Starts it and gives the name of the run. One whose answer is lost is not started twice. */
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
      return (await callJson<{ run: string }>(path, { method: 'POST', body: event, headers, signal })).run;
    } catch (error) {
      if (tried >= TRIES || !isPassing(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, 400 * tried));
    }
  }
}

/** Cancels a run; its record stays. */
export async function cancelRun(at: RunAt): Promise<void> {
  await call(runPath(at), { method: 'DELETE' });
}
