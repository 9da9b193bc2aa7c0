/**
 * What the clients of one history share: a project in the run store, its records, and what is promised about
 * both.
 */
import { setTimeout } from 'node:timers/promises';
import { createLedger, type Ledger } from './ledger.ts';
import { createNetwork, type Network } from './network.ts';
import { createRecords, type Records } from './records.ts';
import { watchStore, type Server, type WatchedStore } from './watched.ts';
import { UNLIMITED, WORKFLOWS, type Limits } from './workflows.ts';

export type Harness = {
  project: string;
  network: Network;
  store: WatchedStore;
  records: Records;
  ledger: Ledger;
  /** Ends in a millisecond in which no run has been named. */
  nextMillisecond: () => Promise<void>;
  /** The failed runs that were resumed: again would be another effect. */
  resumed: Set<string>;
  /** What users have set, by workflow. */
  limits: Map<string, Limits>;
  /** What is wrong, in the order in which it was found. */
  problems: string[];
};

/**
 * Names of runs sort by the millisecond at which they were made: two of one would sort by chance, and the
 * history would differ.
 */
function createMilliseconds(): () => Promise<void> {
  let last = 0;
  return async () => {
    while (Date.now() <= last) await setTimeout(1);
    last = Date.now();
  };
}

/** A project that does not exist yet. */
export function createHarness(server: Server, project: string): Harness {
  const problems: string[] = [];
  const tell = (problem: string) => void problems.push(problem);
  const network = createNetwork((error) => tell(`a client failed: ${(error as Error).stack}`));
  const ledger = createLedger(() => records);
  const store = watchStore(server, network, { project, tell, judge: ledger.judge });
  const records: Records = createRecords(network, {
    now: () => store.now(),
    judge: (name, { phase = '' }) => problems.push(...ledger.judgeRecord(name, phase)),
  });
  const limits = new Map(WORKFLOWS.map((workflow) => [workflow as string, UNLIMITED]));
  return {
    project,
    nextMillisecond: createMilliseconds(),
    resumed: new Set<string>(),
    network,
    store,
    records,
    ledger,
    limits,
    problems,
  };
}
