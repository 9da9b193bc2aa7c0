/** A connection to the run store. */
import type { Log } from '../kube/log.ts';

export type RunStoreOptions = {
  /** `redis://host:port` or `rediss://…`, without credentials. */
  url: string;
  username?: string;
  password?: string;
  /** How the server lists the connection. */
  name: string;
  log?: Log;
  onStateChange?: (healthy: boolean) => void;
};

export type RunStoreConnection = {
  /** Whether a call sent now would be answered, as far as is known. */
  healthy(): boolean;
  close(): Promise<void>;
};

/** Connects in the background, for ever again; until it is there every call answers `unavailable`. */
export declare function connectRunStore(options: RunStoreOptions): RunStoreConnection;
