/** The results of a run: its reply, its end, its result for its parent, and what its failure started. */
import type { TerminalPhase } from '../../api/phase.ts';
import type { NodeOutput } from '../../api/value.ts';

/** The answer of a response node. */
export type Reply = { status: number; headers: Record<string, string>; body: string; contentType: string };

/** `output`: what the parent gets of a child run that succeeded. */
export type RunEnd = { phase: TerminalPhase; reason?: string; message?: string; output?: NodeOutput };

/** The result of a child run, for the node that started it. `output`: of a run that succeeded. */
export type ChildResult = {
  phase: TerminalPhase;
  reason?: string;
  message?: string;
  output?: NodeOutput;
};

/** The run that a failure started, or why it started none. */
export type FailureOutcome =
  | { workflow: string; run: string }
  | { workflow: string; reason: string; message: string };
