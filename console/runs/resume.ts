/** Retries of a failed run from its failed node: whether that is possible, and what must be decided first. */
import { callJson } from '../http/call.ts';
import { ApiFailure } from '../http/failure.ts';
import { runPath, type RunAt } from './live/runAt.ts';
import type { NodeView, RunHead } from './live/nodeView.ts';

/** Whether an effect whose outcome is unknown happened. */
export type Decision = {
  node: string;
  outcome: 'AssumeDone' | 'AssumeNotDone';
  /** The output of the node, if its effect happened. */
  output?: { data_content: unknown };
};

/**
 * The nodes whose outcome must be decided; undefined: the run cannot be resumed. A group is decided as a
 * whole, without the nodes of its body. `depth`: in how many groups a node is.
 */
export function undecidedNodes(
  run: RunHead,
  nodes: ReadonlyMap<string, NodeView>,
  depth: (id: string) => number,
): string[] | undefined {
  if (run.phase !== 'Failed' || run.summary === true) return undefined;
  const views = [...nodes.values()];
  const hasFailed = views.some(({ phase }) => phase === 'Failed' || phase === 'Unknown');
  if (!hasFailed) return undefined;
  return views.filter(({ id, phase }) => phase === 'Unknown' && depth(id) === 0).map(({ id }) => id);
}

/** How many items of the loop have not ended. They are executed only if its effect is assumed not done. */
export function itemsLeft(node: NodeView | undefined): number {
  const { total = 0, succeeded = 0, failed = 0 } = node?.items ?? {};
  return total - succeeded - failed;
}

/** What a user entered about a node. `output` is JSON; empty: null. */
export type Entered = { outcome?: Decision['outcome']; output: string };

/** The decisions; undefined while one is missing, or an output is not JSON. */
export function decisionsOf(
  ids: readonly string[],
  entered: Readonly<Record<string, Entered>>,
): Decision[] | undefined {
  const decisions = ids.map((node) => decisionOf(node, entered[node]));
  return decisions.every((decision) => decision !== undefined) ? decisions : undefined;
}

function decisionOf(node: string, { outcome, output = '' }: Partial<Entered> = {}): Decision | undefined {
  if (outcome !== 'AssumeDone') return outcome && { node, outcome };
  if (output.trim() === '') return { node, outcome };
  const read = jsonOf(output);
  return read && { node, outcome, output: { data_content: read.value } };
}

/** Whether a text is JSON or empty. */
export function isOutput(text: string): boolean {
  return text.trim() === '' || jsonOf(text) !== undefined;
}

function jsonOf(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/**
 * Starts the run that continues a failed one and returns its name. The run store keeps failed runs for a day;
 * `resumeRecorded` continues one of which only the record is left. Calls with one key start one run.
 */
export async function resumeRun(
  at: RunAt,
  { decisions, key }: { decisions: readonly Decision[]; key: string },
  resumeRecorded: () => Promise<string>,
): Promise<string> {
  const body = { resume: true, ...(decisions.length > 0 && { decisions }) };
  try {
    const headers = { 'idempotency-key': key };
    return (await callJson<{ run: string }>(`${runPath(at)}/retry`, { method: 'POST', body, headers })).run;
  } catch (error) {
    if (error instanceof ApiFailure && error.reason === 'run-not-kept') return resumeRecorded();
    throw error;
  }
}
