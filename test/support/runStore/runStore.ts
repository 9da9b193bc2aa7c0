/**
 * A run store for tests: an own Redis, a project that is open, and the moves of a runner in one line each.
 */
import { expect } from 'vitest';
import { claimRuns } from '../../../runs/claim.ts';
import { connectRunStore, isUnavailable, type RunStoreConnection } from '../../../store/connection.ts';
import { openProject } from '../../../runs/project.ts';
import { readRun } from '../../../runs/read.ts';
import { submit } from '../../../runs/submit.ts';
import type { Claim, ClaimRef } from '../../../runs/types/claim.ts';
import type { NodeState } from '../../../runs/types/node.ts';
import type { RunState } from '../../../runs/types/run.ts';
import type { Submission } from '../../../runs/types/submission.ts';
import { startRedis, type RedisOptions, type TestRedis } from './redis.ts';

export type TestStore = { redis: TestRedis; conn: RunStoreConnection; stop(): Promise<void> };

/** Starts a Redis and connects. */
export async function startRunStore(options: RedisOptions = {}): Promise<TestStore> {
  const redis = await startRedis(options);
  const conn = connectRunStore({ url: redis.url, name: 'test' });
  await conn.ready();
  return {
    redis,
    conn,
    stop: async () => {
      await conn.close();
      await redis.stop();
    },
  };
}

let projects = 0;

/** Opens a project that no other test uses. */
export async function newProject(conn: RunStoreConnection, quotaBytes?: number): Promise<string> {
  projects += 1;
  const project = `project-${process.pid}-${projects}`;
  const opened = await openProject(conn, project, quotaBytes === undefined ? {} : { quotaBytes });
  expect(opened).toMatchObject({ outcome: 'done', fresh: true });
  return project;
}

/** An event of the workflow `orders`. */
export function submissionOf(project: string, changes: Partial<Submission> = {}): Submission {
  return {
    project,
    workflow: 'orders',
    workflowUid: 'uid-orders',
    revision: 'orders-1',
    trigger: 'webhook',
    input: '{"text_content":"","data_content":{"item":"desk"}}',
    bodyHash: 'hash-of-the-body',
    test: false,
    ...changes,
  };
}

/** Submits an event and gives the name of its run. */
export async function accepted(conn: RunStoreConnection, submission: Submission): Promise<string> {
  const outcome = await submit(conn, submission);
  if (outcome.outcome !== 'accepted') throw new Error(`not accepted: ${JSON.stringify(outcome)}`);
  return outcome.run;
}

/** Claims up to `max` runs. */
export async function claimed(
  conn: RunStoreConnection,
  project: string,
  max = 10,
  runner = 'runner-1',
): Promise<Claim[]> {
  const outcome = await claimRuns(conn, { project, runner, max });
  if (outcome.outcome !== 'claimed') throw new Error(`not claimed: ${JSON.stringify(outcome)}`);
  return outcome.claims;
}

/** Claims one run and gives what names it from then on. */
export async function claimedOne(
  conn: RunStoreConnection,
  project: string,
  runner = 'runner-1',
): Promise<ClaimRef> {
  const [claim] = await claimed(conn, project, 1, runner);
  if (!claim) throw new Error('nothing was ready');
  return refOf(claim);
}

/** A run of a new project, claimed. */
export async function startedRun(conn: RunStoreConnection, quotaBytes?: number): Promise<ClaimRef> {
  const project = await newProject(conn, quotaBytes);
  await accepted(conn, submissionOf(project));
  return claimedOne(conn, project);
}

/** What names a claimed run. */
export function refOf({ token, state }: Claim): ClaimRef {
  return { project: state.project, run: state.run, token };
}

/** The run as it stands. */
export async function stateOf(conn: RunStoreConnection, project: string, run: string): Promise<RunState> {
  const state = await readRun(conn, project, run);
  if (!state || isUnavailable(state)) throw new Error(`run ${run} cannot be read: ${JSON.stringify(state)}`);
  return state;
}

/** A node that has succeeded. */
export function succeededNode(id: string, text = 'done'): NodeState {
  return {
    id,
    phase: 'Succeeded',
    attempts: 1,
    startedAt: 1_700_000_000_000,
    endedAt: 1_700_000_001_000,
    output: { text_content: text, data_content: { ok: true } },
  };
}
