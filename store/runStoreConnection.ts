/** What the connection to a run store offers, whatever servers it consists of. */
import type { Barrier } from './barrier.ts';
import type { ProjectUid } from './keys.ts';
import type { Replicas, ServerCalls } from './replicas.ts';
import type { Script } from './script.ts';
import type { Subscriber } from './subscriber.ts';

/** A server that takes writes. */
export type Primary = ServerCalls & {
  /** Sorts primaries: the same one has the same name. */
  name: string;
  /** Works with each of its replicas (`replicas.ts`). */
  eachReplica: Replicas['each'];
};

export type RunStoreConnection = {
  /** Whether a call sent now would be answered, as far as is known. */
  healthy(): boolean;
  /** Resolves when the connection is up; rejects when the signal is aborted before. */
  ready(signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
  /**
   * For modules of `store` and `runs`, and commands whose first argument is a key or a channel: the server
   * that has it executes them. Throws `Unanswered`, or the server's error.
   */
  command(name: string, ...args: (string | number)[]): Promise<unknown>;
  /** For modules of `store` and `runs`. All keys are of one project. Throws like `command`. */
  script(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>;
  /** For modules of `store` and `runs`: see `Barrier`. */
  replicated: Barrier['replicated'];
  /**
   * Calls back when the project is on another server than before: a replica was promoted, which may have less
   * data. No call that is made after the promotion was known is answered before.
   */
  onFailover: (project: ProjectUid, listener: () => void) => { end(): void };
  /** The server that has the keys of the project, for commands without a key. */
  serverOf: (project: ProjectUid) => ServerCalls;
  /**
   * For modules of `store` and `runs`: all servers that take writes, in the order of their names. Throws
   * `Unanswered` while they are not known.
   */
  primaries: () => Promise<readonly Primary[]>;
  /** The name of the server that has the keys of the project; undefined while it is not known. */
  primaryOf: (project: ProjectUid) => string | undefined;
  /** The projects in groups that one script may access together. */
  together: (projects: readonly ProjectUid[]) => ProjectUid[][];
  /**
   * For modules of `store` and `runs`: the connections for all subscriptions of this process, opened on first
   * use.
   */
  subscriber(): Subscriber;
};
