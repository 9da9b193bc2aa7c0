/** A run with what surrounds it: its parent, its usage, and the decisions that it was resumed with. */
import type { Testing } from '../../api/mock.ts';
import type { RunPhase } from '../../api/phase.ts';
import type { NodeOutput } from '../../api/value.ts';
import type { RunGroup } from '../../store/groups.ts';
import type { ProjectUid } from '../../store/keys.ts';
import type { NodeState } from './node.ts';
import type { FailureOutcome, Reply } from './result.ts';

/** A run, as the store holds it. Times are milliseconds since 1970. */
export type RunState = {
  run: string;
  project: ProjectUid;
  workflow: string;
  workflowUid: string;
  /** The group: the live runs, or the test runs, of its workflow. */
  group: RunGroup;
  revision: string;
  trigger: string;
  dedupeKey?: string;
  /** The hash of its dedupe key, or of its name where the submitter chose it. */
  dedupeHash?: string;
  /** The hash of its event's body, where a key was given. */
  bodyHash?: string;
  test: boolean;
  retryOf?: string;
  /** Of a run that resumes another one: the run whose effect keys it continues. */
  origin?: string;
  decisions?: readonly Decision[];
  until?: string;
  testing?: Testing;
  requestedBy?: string;
  recordUid?: string;
  /** Of a child run. */
  parent?: ParentRef;
  /** The uid of the object that the run is recorded in, once it is known. */
  recordedUid?: string;
  /** Its object may exist: the run must be recorded, and its writes are paid for. */
  createBegun?: true;
  phase: RunPhase;
  epoch: number;
  sequence: number;
  acceptedAt: number;
  startedAt?: number;
  endedAt?: number;
  reason?: string;
  message?: string;
  cancelRequested: boolean;
  /** Runners that died while they executed the run, since the last progress. */
  crashes: number;
  /** It was restored from its record and not claimed since, or not by the runner that executed it before. */
  restored?: true;
  /**
   * Effects that must not be repeated must not begin: the run was restored and may have advanced after its
   * record, its parent was in doubt when it started the run, or it resumes a run in doubt. The record shows
   * it, so that it survives further losses of the run store.
   */
  doubt?: true;
  /** The hash of the variables that were current when the run was accepted. */
  variables?: string;
  /** The version of its signals; left out where it has none (`runs/signals.ts`). */
  signaled?: string;
  /**
   * What its agents used, as its budget counts it. `estimated`: how many of the tokens are reserved and not
   * settled. `cost`: nano-units.
   */
  usage?: RunUsage;
  /** The trigger's output as JSON text. */
  input: string;
  /** Its record waits until the workflow that its failure starts has been started. */
  isUnreported?: true;
  /** What its failure started. */
  onFailure?: FailureOutcome;
  /** The input is withheld from readers of the run. Never stored. */
  inputRedacted?: true;
  /** The input lacks URLs of callbacks, which nobody reads. Never stored. */
  isInputPartial?: true;
  nodes: NodeState[];
  reply?: Reply;
};

export type RunUsage = { tokens: number; estimated: number; cost: number; currency: string };

/** The node that started a child run, and the runs around it. */
export type ParentRef = {
  run: string;
  /** The ID of the node. */
  node: string;
  /** Of the parent. */
  group: RunGroup;
  /** The ancestor without a parent. */
  root: string;
  /** The workflows of all ancestors, that of the root first. */
  path: string[];
  /** The parent waits for the end of the child, and the end of the parent cancels the child. */
  waits: boolean;
  /** The failure of a run started the root. */
  isAfterFailure?: true;
  /** The index of the item for which the node started it, in the innermost loop with `forEach`. */
  item?: number;
};

/** The author's knowledge about a node in phase Unknown. */
export type Decision = {
  node: string;
  outcome: 'AssumeDone' | 'AssumeNotDone';
  /** With AssumeDone: the output that later nodes read. */
  output?: Partial<NodeOutput>;
};
