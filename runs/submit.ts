import type { RunStoreConnection } from './connection.ts';
import type { Submission, Submitted } from './types.ts';

/** Stores an event as a run; only what this accepted may be answered with 2xx. */
export declare function submit(conn: RunStoreConnection, submission: Submission): Promise<Submitted>;
