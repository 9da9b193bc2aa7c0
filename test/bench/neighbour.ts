/**
 * Events of a workflow at a steady rate, submitted straight to the run store, whatever becomes of those
 * before.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { RunStoreConnection } from '../../store/connection.ts';
import { submit } from '../../runs/submit.ts';
import { EVENT } from './accept.ts';

export type Neighbour = { project: string; name: string; workflowUid: string; revision: string };

const EVERY_MS = 50;
const AGAIN_MS = 100;

/**
 * Submits until the signal is aborted; answers with how long each took until it was accepted, in
 * milliseconds.
 */
export async function submitAtRate(
  conn: RunStoreConnection,
  neighbour: Neighbour,
  signal: AbortSignal,
): Promise<number[]> {
  const sent: Promise<number>[] = [];
  for (let dueAt = performance.now(); !signal.aborted; dueAt += EVERY_MS) {
    await delay(Math.max(0, dueAt - performance.now()));
    sent.push(timeOne(conn, neighbour));
  }
  return Promise.all(sent);
}

async function timeOne(conn: RunStoreConnection, neighbour: Neighbour): Promise<number> {
  const startedAt = performance.now();
  await submitOne(conn, neighbour);
  return performance.now() - startedAt;
}

/**
 * Submits one event until it is accepted: a store that is not reached in two seconds is asked again, as
 * callers do.
 */
export async function submitOne(
  conn: RunStoreConnection,
  { project, name: workflow, workflowUid, revision }: Neighbour,
): Promise<void> {
  const event = {
    project,
    workflow,
    workflowUid,
    revision,
    trigger: 'webhook',
    input: `{"text_content":"","data_content":${EVENT}}`,
    bodyHash: '',
    test: false,
  };
  for (;;) {
    const { outcome } = await submit(conn, event);
    if (outcome === 'accepted') return;
    if (outcome !== 'unavailable') throw new Error(`An event was not accepted: ${outcome}`);
    await delay(AGAIN_MS);
  }
}
