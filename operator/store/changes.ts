/** What other parts of the operator learn of the run store. */
import { createNotifier, type Notifier } from '../shared/notifier.ts';
import type { OpenProject } from './allQuotas.ts';

export type StoreChanges = {
  /** The project of this namespace has no data in the run store, or needs its runners no more. */
  project: Notifier<string>;
  /** The run store can be reached again. */
  reconnected: Notifier<void>;
  /** The server was identified for the first time, or is another one than before: `serverIdentities`. */
  identified: Notifier<string>;
  /** Another server answers, or another process of it, which may have lost the end of its log. */
  restarted: Notifier<void>;
  /** The run store has lost the data of the project in this namespace. */
  lost: Notifier<string>;
  /** The project in this namespace has filled its share of the run store, or has room again. */
  full: Notifier<string>;
  /** The use of all open projects was read. */
  used: Notifier<readonly OpenProject[]>;
};

export function createStoreChanges(): StoreChanges {
  return {
    project: createNotifier(),
    reconnected: createNotifier(),
    identified: createNotifier(),
    restarted: createNotifier(),
    lost: createNotifier(),
    full: createNotifier(),
    used: createNotifier(),
  };
}
