/**
 * What the run store holds of one project, as the reference and the checks see it: runs by name, not keys.
 * Times are milliseconds.
 */
import type { RunPhase, TerminalPhase } from '../../api/phase.ts';

/** Of a run that has not ended exactly one of `ready`, `overLimit`, `due` and `token` says where it is. */
export type Run = {
  wf: string;
  /** Microseconds, as text. */
  accepted: string;
  phase: RunPhase;
  epoch: number;
  sequence: number;
  head: string;
  input: string;
  nodes: Record<string, string>;
  waits: Record<string, number>;
  /** The items of its loops and their nodes, and the times at which they continue, by field. */
  items: Record<string, string>;
  /** Its signals by node, and the version of them. */
  signals: Record<string, string>;
  signaled: string;
  timeout?: number;
  deadline?: number;
  started?: number;
  ended?: number;
  reason?: string;
  message?: string;
  crashes: number;
  /** A runner has claimed it in this store. */
  wasClaimed: boolean;
  progress: boolean;
  reply?: string;
  recorded?: string;
  creating?: string;
  refused: number;
  dropped: boolean;
  /** The epoch of the record that it was put back from, until its runner has stored it again. */
  restored?: number;
  /** It may have gone on after that record. */
  doubt: boolean;
  /** Its place in the queue: a virtual start time. */
  ready?: number;
  overLimit: boolean;
  due?: number;
  token?: string;
  /** Somebody asked for its cancellation. */
  cancel: boolean;
  /** The run that waits for its end. */
  parent?: string;
  /** The run that replaces it. */
  replacedBy?: string;
  /** A newer run may replace it. */
  live: boolean;
  /** Of an unfinished run: whether it may be recorded, or is one too many. */
  isRecorded?: boolean;
  /** From when a recorder may take it. */
  out?: number;
  /** In the list of its workflow's runs. */
  listed: boolean;
  /** Its failure may still start a workflow, so that its end is not recorded. */
  unreported: boolean;
  /** As JSON: the run that its failure started, or why it started none. */
  onFailure?: string;
};

/** A failed run that has left the store, for runs that resume it. */
export type KeptRun = Pick<Run, 'wf' | 'phase' | 'head' | 'input' | 'nodes' | 'items' | 'doubt'>;

export type Totals = Record<TerminalPhase, number>;

export type Workflow = {
  limit?: number;
  policy: string;
  timeout?: number;
  suspended: boolean;
  /** Slots in use: runs that are ready or claimed. */
  active: number;
  vt: number;
  accepted: number;
  last: number;
  ended: Totals;
  waiting: Totals;
  keep: Totals;
  /** As JSON: the workflow that a failed run starts. */
  onFailure?: string;
};

/** What a dedupe key stands for. */
export type EventKey = { run: string; body: string; phase?: string; expires: boolean };

type Summary = { wf: string; accepted: string; line: string };

export type State = {
  /** The id of the store; none while the project is closed. */
  id?: string;
  seeding?: string;
  opened?: number;
  /** The project's clock when it was last written, and by how much it is ahead of the server's. */
  clock: number;
  ahead: number;
  /** The virtual time of the queue. */
  v: number;
  quota?: number;
  claimQuota?: number;
  keyQuota?: number;
  unfinished?: number;
  /** Claims are paused, since the store has no room for what runs grow by. */
  isShort: boolean;
  rate?: number;
  tokens?: number;
  filled?: number;
  workflows: Record<string, Workflow>;
  runs: Record<string, Run>;
  /** By the name of a run: the unfinished child runs that it waits for. */
  children: Record<string, Record<string, true>>;
  /** By the name of a failed run, as JSON: the workflow that it starts. */
  failures: Record<string, string>;
  /** By the name of the run. */
  kept: Record<string, KeptRun>;
  /** By the name of the key. */
  keys: Record<string, EventKey>;
  /** What recorded runs replied, by the name of the key. */
  replies: Record<string, string>;
  summaries: Record<string, Summary>;
  beats: Record<string, number>;
};

/**
 * What one key holds: a hash or sorted set as pairs, a set as members, a string alone. `kept`: it does not
 * expire.
 */
export type DumpedKey = { key: string; type: string; value: string[]; kept: boolean };

/** The name by which queues know a run. */
export function entryOf(state: State, name: string): string {
  const { wf = '', accepted = '' } = state.runs[name] ?? {};
  return `${wf} ${accepted} ${name}`;
}

/** The names of the runs that are chosen, in the order of a sorted set: by score, then by entry. */
export function inOrder(state: State, score: (run: Run) => number | undefined): string[] {
  const chosen = Object.entries(state.runs).flatMap(([name, run]) => {
    const at = score(run);
    return at === undefined ? [] : [{ name, at, entry: entryOf(state, name) }];
  });
  chosen.sort((a, b) => a.at - b.at || (a.entry < b.entry ? -1 : 1));
  return chosen.map(({ name }) => name);
}
