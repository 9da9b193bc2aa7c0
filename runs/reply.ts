import type { TerminalPhase } from '../api/run.ts';
import type { RunStoreConnection } from './connection.ts';
import type { ProjectUid, Reply, RunState } from './types.ts';

export type Waited =
  | { kind: 'reply'; reply: Reply }
  | { kind: 'ended'; phase: TerminalPhase; reply?: Reply; state: RunState }
  /** Nothing is left of the run in the store. */
  | { kind: 'gone' }
  | { kind: 'timeout' };

export type WaitOptions = {
  timeoutMs: number;
  signal: AbortSignal;
  /** What ends the wait: the reply or the end, whatever comes first (default), or only the end. */
  until?: 'reply' | 'end';
};

export type ReplyWaiter = {
  wait(project: ProjectUid, run: string, options: WaitOptions): Promise<Waited>;
  close(): void;
};

/** Waits for replies and ends of runs; nothing is missed, whatever happens to the connection meanwhile. */
export declare function createReplyWaiter(conn: RunStoreConnection): ReplyWaiter;
