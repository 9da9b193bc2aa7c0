/** Events that are to start runs, and their outcomes. */
import type { Testing } from '../../api/mock.ts';
import type { TerminalPhase } from '../../api/phase.ts';
import type { Unavailable } from '../../store/connection.ts';
import type { ProjectUid } from '../../store/keys.ts';
import type { NodeState } from './node.ts';
import type { Reply } from './result.ts';
import type { Decision, ParentRef } from './run.ts';

/** An event that shall start a run. */
export type Submission = {
  project: ProjectUid;
  workflow: string;
  workflowUid: string;
  revision: string;
  /** The name of the WorkflowRun. Left out: a new one. */
  run?: string;
  /** The dedupe key, up to 1,100 characters: the same key gives the same run. */
  dedupeKey?: string;
  /** What started it: a trigger kind, or `execute`. */
  trigger: string;
  /**
   * The trigger's output as JSON text `{"text_content":…,"data_content":…,"headers"?:…}`; kept byte for byte.
   */
  input: string;
  /** A hash of the body as it came: the same key with another body is refused. */
  bodyHash: string;
  test: boolean;
  retryOf?: string;
  /** Of a run that resumes another one. */
  resumed?: Resumed;
  /** Of a test run that goes only as far as this node. */
  until?: string;
  /** Of a test run whose steps differ from those of a live run. */
  testing?: Testing;
  /** The user who asked for the run. */
  requestedBy?: string;
  /** The uid of the object, if somebody created the run as one: it becomes the record. */
  recordUid?: string;
  /** Of a child run. */
  parent?: ParentRef;
};

/** The nodes and items that a run keeps of the failed run that it resumes. */
export type Resumed = {
  /** The run whose effect keys the run continues: the resumed one, or the one that it resumed itself. */
  origin: string;
  decisions: readonly Decision[];
  /** The nodes to keep, and those to execute again, with their attempts. */
  nodes: readonly NodeState[];
  /** The items of loops to keep, by key. */
  items: ReadonlyMap<string, NodeState>;
  /** The failed run was in doubt, and so is the run that resumes it. */
  isInDoubt?: true;
};

export type Submitted =
  /** Of a repeated event: the reply, or the phase if it is recorded that there was no reply. */
  | { outcome: 'accepted'; run: string; duplicate: boolean; reply?: Reply; ended?: TerminalPhase }
  | { outcome: 'conflict'; run: string }
  | { outcome: 'rejected'; limit: number }
  /** The workflow is suspended: nothing was stored. */
  | { outcome: 'suspended' }
  | Unavailable;

/**
 * Identifies an event: the hash of its dedupe key, and the hash of its body, empty where that is not known.
 */
export type DedupeMark = { hash: string; body: string };
