/** Events of a workflow at a steady rate, submitted straight to the run store, whatever becomes of those before. */
import { setTimeout as delay } from 'node:timers/promises';
import type { RunStoreConnection } from '../../runs/connection.ts';
import { submit } from '../../runs/submit.ts';
import { EVENT } from './accept.ts';

export type Neighbour = { project: string; name: string; workflowUid: string; revision: string };

const EVERY_MS = 50;

/** Submits until the signal is aborted; answers with how long each took, in milliseconds. Throws where one was not accepted. */
export async function submitAtRate(
  conn: RunStoreConnection,
  neighbour: Neighbour,
  signal: AbortSignal,
): Promise<number[]> {
  const sent: Promise<number>[] = [];
  for (let dueAt = performance.now(); !signal.aborted; dueAt += EVERY_MS) {
    await delay(Math.max(0, dueAt - performance.now()));
    sent.push(submitOne(conn, neighbour));
  }
  return Promise.all(sent);
}

/** Submits one event; answers with how long it took, in milliseconds. */
export async function submitOne(
  conn: RunStoreConnection,
  { project, name: workflow, workflowUid, revision }: Neighbour,
): Promise<number> {
  const startedAt = performance.now();
  const submitted = await submit(conn, {
    project,
    workflow,
    workflowUid,
    revision,
    trigger: 'webhook',
    input: `{"text_content":"","data_content":${EVENT}}`,
    bodyHash: '',
    test: false,
  });
  if (submitted.outcome !== 'accepted')
    throw new Error(`A neighbour's event was not accepted: ${submitted.outcome}`);
  return performance.now() - startedAt;
}
