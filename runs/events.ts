import type { RunStoreConnection } from './connection.ts';
import type { ClaimRef, Fenced, ProjectUid, RunEvent, RunEventBody, Unavailable } from './types.ts';

/** Adds live events to a run that this runner holds. Node and run events need no call: `advance` makes them itself. */
export declare function appendEvents(
  conn: RunStoreConnection,
  ref: ClaimRef,
  events: RunEventBody[],
): Promise<Fenced>;

/** The events after the one named, at most `limit`, oldest first. */
export declare function readEvents(
  conn: RunStoreConnection,
  project: ProjectUid,
  run: string,
  options: { after?: string; limit: number },
): Promise<RunEvent[] | Unavailable>;

/** The events as they come; ends after the run's terminal event, or when there is nothing (left) of the run. */
export declare function followEvents(
  conn: RunStoreConnection,
  project: ProjectUid,
  run: string,
  options: { after?: string; signal: AbortSignal },
): AsyncIterable<RunEvent>;

/** Joins text per node over 50 ms; never blocks a run and never fails one. */
export declare function createEventWriter(
  conn: RunStoreConnection,
  ref: ClaimRef,
): { text(node: string, text: string): void; flush(): Promise<void> };
