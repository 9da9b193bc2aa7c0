/**
 * Decides what a run keeps of the failed run that it resumes: the outputs of nodes that succeeded, and
 * failures that were handled. The failed node and all nodes after it are executed again, and skipped nodes
 * are decided again. Pure, apart from reading failed runs from the run store.
 */
import { DISABLED } from '../api/disabled.ts';
import { predecessors, type Graph } from '../api/graph.ts';
import { isTerminal, type RunPhase } from '../api/phase.ts';
import type { FailureReason } from '../api/reasons.ts';
import { scopedNodes, type Revision, type RevisionStep } from '../api/revision.ts';
import { RUN_SCOPE, visibilityOf, type Visibility } from '../api/scopes.ts';
import type { NodeOutput } from '../api/value.ts';
import { orUnavailable, type RunStoreConnection, type Unavailable } from '../store/connection.ts';
import { keysOf, type ProjectUid } from '../store/keys.ts';
import { VALUE_LIMIT_BYTES } from './advance.ts';
import { hasToolOnce, type IsAtMostOnce, refuseCalledTools } from './calledTools.ts';
import { readItemsOf } from './items.ts';
import { lostCallback } from './lostCallbacks.ts';
import { parseRun } from './read.ts';
import type { NodeState } from './types/node.ts';
import type { Decision, RunState } from './types/run.ts';
import type { Resumed } from './types/submission.ts';

/** A failed run, from the run store or from its record. */
export type FailedRun = {
  run: string;
  phase: RunPhase;
  /** The run whose effect keys it continues itself. */
  origin?: string | undefined;
  nodes: readonly NodeState[];
  /** The items of its loops; undefined if they are gone. */
  items: ReadonlyMap<string, NodeState> | undefined;
  isInDoubt?: boolean | undefined;
  /** The nodes come from the record, which may withhold transcripts. */
  isRecorded?: true;
};

type Refusal = { reason: FailureReason; message: string };

/** An ended run in the run store; undefined if the store does not have it, or if it has not ended. */
export function readEnded(
  conn: RunStoreConnection,
  project: ProjectUid,
  run: string,
): Promise<{ state: RunState; items: ReadonlyMap<string, NodeState> | undefined } | undefined | Unavailable> {
  const keys = keysOf(project);
  return orUnavailable(async () => {
    for (const [key, itemsKey] of [
      [keys.run(run), keys.items(run)],
      [keys.failed(run), keys.failedItems(run)],
    ] as const) {
      const fields = (await conn.command('hgetall', key)) as Record<string, string>;
      const state = parseRun(project, run, fields, false);
      // A recorded run has left its items to the copy that is kept.
      if (!state || !isTerminal(state.phase) || fields['dropped'] !== undefined) continue;
      const current = await conn.command('hget', keys.meta, 'vars');
      // With other variables a loop may have other items.
      const isSame = (typeof current === 'string' ? current : undefined) === state.variables;
      const items = await readItemsOf(conn, itemsKey);
      return { state, items: isSame && items.size > 0 ? items : undefined };
    }
    return undefined;
  });
}

/** Decides which nodes the new run keeps of the failed one, or why that cannot be resumed. */
export function planResume(
  failed: FailedRun,
  revision: Revision,
  decisions: readonly Decision[],
  isAtMostOnce: IsAtMostOnce,
): Resumed | Refusal {
  const { run, phase } = failed;
  if (phase !== 'Failed') {
    const message = `Run ${run} is ${phase}: only a failed run can be resumed. Remove resume to repeat the run from its start.`;
    return { reason: 'NotResumable', message };
  }
  const visible = visibilityOf(scopedNodes(revision), revision.edges);
  const graph = visible.graphs.get(RUN_SCOPE);
  const own = new Map(failed.nodes.map((node) => [node.id, node]));
  const refusal = refuseDecisions(run, graph, own, decisions);
  if (!graph || refusal) return refusal ?? { reason: 'RevisionMissing', message: 'The revision is empty.' };
  const decided = new Map(decisions.map((decision) => [decision.node, decision]));
  const again = executedAgain(graph, own, decided);
  const lost = lostCallback(revision, again, (id) => own.get(id)?.phase === 'Succeeded' && !again.has(id));
  if (lost) return { reason: 'NotResumable', message: lostCallbackText(run, lost) };
  const kept = keepNodes(failed, graph, { own, decided, again }, { visible, revision, isAtMostOnce });
  if ('reason' in kept) return kept;
  const doubt = failed.isInDoubt ? { isInDoubt: true as const } : {};
  return { origin: failed.origin ?? run, decisions, ...kept, ...doubt };
}

function lostCallbackText(run: string, { wait, sender }: { wait: string; sender: string }): string {
  return `Node ${wait} of run ${run} waits for a callback, and node ${sender} has sent the URL of that run, at which calls are answered with 410. Create a WorkflowRun with retryOf and without resume, so that ${sender} sends a new URL.`;
}

type Decided = {
  own: ReadonlyMap<string, NodeState>;
  decided: ReadonlyMap<string, Decision>;
  /** The nodes that are executed again. */
  again: ReadonlySet<string>;
};

function keepNodes(
  failed: FailedRun,
  graph: Graph,
  { own, decided, again }: Decided,
  context: Context,
): Again | Refusal {
  const nodes: NodeState[] = [];
  const items = new Map<string, NodeState>();
  for (const { id, trigger } of graph.nodes) {
    const node = own.get(id);
    if (trigger || !node) continue;
    if (!again.has(id)) {
      if (node.phase !== 'Skipped') nodes.push(keptNode(node, decided.get(id)));
      continue;
    }
    const step = context.revision.steps.find((one) => one.id === id);
    if (!step || node.phase === 'Skipped') continue;
    const resumed = resumeNode({ failed, step, node, isDecided: decided.has(id) }, context);
    if ('reason' in resumed) return resumed;
    nodes.push(...resumed.nodes);
    for (const [key, item] of resumed.items) items.set(key, item);
  }
  return { nodes, items };
}

/** Each Unknown node needs a decision, and no other node may have one. */
function refuseDecisions(
  run: string,
  graph: Graph | undefined,
  own: ReadonlyMap<string, NodeState>,
  decisions: readonly Decision[],
): Refusal | undefined {
  const isUnknown = (id: string) => own.get(id)?.phase === 'Unknown';
  const wrong = decisions.find(({ node }) => !graph?.nodes.some(({ id }) => id === node) || !isUnknown(node));
  if (wrong) {
    const phase = own.get(wrong.node)?.phase;
    const is =
      phase === undefined ? `has no state in run ${run}` : `of run ${run} is ${phase}, and not Unknown`;
    return { reason: 'NotResumable', message: `Node ${wrong.node} ${is}: remove its decision.` };
  }
  const twice = decisions.find(
    ({ node }, index) => decisions.findIndex((one) => one.node === node) !== index,
  );
  if (twice) return { reason: 'NotResumable', message: `Node ${twice.node} has two decisions: remove one.` };
  const large = decisions.find(({ output }) => output && isTooLarge(output));
  if (large) {
    const message = `The output in the decision about node ${large.node} is larger than ${VALUE_LIMIT_BYTES / 1_024} KiB, the limit of an output: pass less data.`;
    return { reason: 'NotResumable', message };
  }
  const open = graph?.nodes.find(({ id }) => isUnknown(id) && !decisions.some(({ node }) => node === id));
  if (!open) return undefined;
  const { total = 0, succeeded = 0, failed = 0 } = own.get(open.id)?.items ?? {};
  const left = total - succeeded - failed;
  const without = left > 0 ? `, without its items that have not ended (${left})` : '';
  const message = `Node ${open.id} of run ${run} is Unknown: its effect may have happened. Check it, then add a decision for node ${open.id}: AssumeDone, with the output that later nodes read${without}, or AssumeNotDone, which executes it again with the same effect key.`;
  return { reason: 'DecisionMissing', message };
}

function isTooLarge({ text_content = '', data_content = null }: Partial<NodeOutput>): boolean {
  return Buffer.byteLength(JSON.stringify({ text_content, data_content })) > VALUE_LIMIT_BYTES;
}

/** The nodes that failed the run or had not ended, and all that follow them. */
function executedAgain(
  graph: Graph,
  own: ReadonlyMap<string, NodeState>,
  decided: ReadonlyMap<string, Decision>,
): Set<string> {
  const isSettled = (id: string): boolean => {
    const phase = own.get(id)?.phase;
    if (phase === 'Succeeded') return true;
    if (phase === 'Unknown') return decided.get(id)?.outcome === 'AssumeDone';
    return phase === 'Failed' && isHandled(graph, own, id);
  };
  const began = graph.nodes.filter(({ id, trigger }) => !trigger && !isSettled(id) && own.has(id));
  const failed = new Set(began.filter(({ id }) => own.get(id)?.phase !== 'Skipped').map(({ id }) => id));
  const follows = (id: string) => [...predecessors(graph, id)].some((before) => failed.has(before));
  return new Set(graph.nodes.map(({ id }) => id).filter((id) => failed.has(id) || follows(id)));
}

/** Whether the run continued after the failure of the node. */
function isHandled(graph: Graph, own: ReadonlyMap<string, NodeState>, id: string): boolean {
  if (graph.nodes.find((node) => node.id === id)?.onError === 'Continue') return true;
  const hasBegun = (to: string) => {
    const { phase, reason } = own.get(to) ?? {};
    return phase !== undefined && (phase !== 'Skipped' || reason === DISABLED);
  };
  return (graph.outOf.get(id) ?? []).some(({ after, to }) => after === 'Failure' && hasBegun(to));
}

function keptNode(
  { mark: _mark, reason, message, ...node }: NodeState,
  decision: Decision | undefined,
): NodeState {
  if (decision === undefined)
    return { ...node, ...(reason !== undefined && { reason }), ...(message !== undefined && { message }) };
  const { text_content = '', data_content = null } = decision.output ?? {};
  return { ...node, phase: 'Succeeded', output: { text_content, data_content } };
}

type Resuming = { failed: FailedRun; step: RevisionStep; node: NodeState; isDecided: boolean };
type Context = { visible: Visibility; revision: Revision; isAtMostOnce: IsAtMostOnce };
type Again = { nodes: NodeState[]; items: Map<string, NodeState> };

/** `isDecided`: the effect of the Unknown node is known not to have happened. */
function resumeNode(resuming: Resuming, context: Context): Again | Refusal {
  const { failed, step, node, isDecided } = resuming;
  if (step.kind !== 'group' && !step.forEach && !step.repeat) {
    const called = refuseCalledTools({ step, node, isRecorded: failed.isRecorded === true }, context);
    if (called !== undefined) {
      const message = `Node ${step.id} of run ${failed.run} cannot be resumed: ${called}, whose effect must not be repeated (AtMostOnce), and the model could call it again. Check the transcript of the node, then create a WorkflowRun with retryOf and without resume.`;
      return { reason: 'NotResumable', message };
    }
    // The same attempt has the same effect key.
    const attempts = isDecided ? Math.max(0, node.attempts - 1) : node.attempts;
    // It starts in the new run: without the start time of the failed run.
    return { nodes: attempts > 0 ? [{ id: node.id, phase: 'Pending', attempts }] : [], items: new Map() };
  }
  return resumeLoop(resuming, context);
}

function resumeLoop({ failed, step, node, isDecided }: Resuming, context: Context): Again | Refusal {
  const items =
    step.forEach && failed.items ? succeededItems(failed.items, step) : new Map<string, NodeState>();
  const repeated = effectsOf(step, context).find(
    (effect) =>
      !isRepeatable(
        effect,
        { failed, step, node, isDecided, hasItems: failed.items !== undefined },
        context.isAtMostOnce,
      ),
  );
  if (repeated) {
    const message = `Node ${step.id} of run ${failed.run} cannot be resumed: the effect of node ${repeated.id} must not be repeated (AtMostOnce), and the data of the run does not show whether it happened. Check it, then create a WorkflowRun with retryOf and without resume.`;
    return { reason: 'DataLost', message };
  }
  if (items.size === 0) return { nodes: [], items };
  // It starts in the new run: without the start time of the failed run.
  return { nodes: [{ id: node.id, phase: 'Running', attempts: node.attempts }], items };
}

/** The steps of the loop, also those of its body, whose effect must not be repeated. */
function effectsOf(loop: RevisionStep, { visible, revision, isAtMostOnce }: Context): RevisionStep[] {
  return revision.steps.filter(
    (step) => isAtMostOnce(step) && (step.id === loop.id || visible.groupsAround(step.id).includes(loop.id)),
  );
}

/**
 * Whether no item to execute again has had the effect. An item of a single node failed without it. In a group
 * the record shows the nodes of one execution: of the only one, or of the first item that failed.
 */
function isRepeatable(
  effect: RevisionStep,
  { failed, step, node, isDecided, hasItems }: Resuming & { hasItems: boolean },
  isAtMostOnce: IsAtMostOnce,
): boolean {
  const hasSucceeded = (node.items?.succeeded ?? Infinity) > 0;
  const sample = failed.nodes.find(({ id }) => id === effect.id);
  if (hasToolOnce(effect, isAtMostOnce)) return hasCalledNothing(step, node, sample, hasItems);
  if (effect.id === step.id) return step.forEach !== undefined && (hasItems || !hasSucceeded);
  if (step.forEach && !(hasItems && isOnlyFailure(node, sample))) return false;
  const isNested = step.repeat || effect.within !== step.id || effect.forEach || effect.repeat;
  return !isNested && hadNoEffect(sample, isDecided);
}

/**
 * Whether no item to execute again has called a tool of the agent in the loop. One that failed may have
 * called it before, and no transcript of an item is kept. `sample`: the agent, if it is in the body of a
 * group.
 */
function hasCalledNothing(
  { id, forEach }: RevisionStep,
  { items }: NodeState,
  sample: NodeState | undefined,
  hasItems: boolean,
): boolean {
  const isItself = sample === undefined || sample.id === id;
  return isItself
    ? forEach !== undefined && hasItems && items?.failed === 0
    : !forEach && sample.phase === 'Skipped';
}

function hadNoEffect(node: NodeState | undefined, isDecided: boolean): boolean {
  const { phase } = node ?? {};
  return phase === 'Failed' || phase === 'Skipped' || (phase === 'Unknown' && isDecided);
}

/** Whether the node belongs to the only item of the loop that failed. */
function isOnlyFailure({ items }: NodeState, sample: NodeState | undefined): boolean {
  return items?.failed === 1 && items.failures[0]?.index === sample?.item;
}

/** The items that succeeded, or whose failure is a result. Without nodes of their executions. */
function succeededItems(
  items: ReadonlyMap<string, NodeState>,
  { id, onError }: RevisionStep,
): Map<string, NodeState> {
  const isKept = (key: string, { phase }: NodeState) =>
    /^\.\d+$/.test(key.slice(id.length)) &&
    key.startsWith(id) &&
    (phase === 'Succeeded' || (phase === 'Failed' && onError === 'Continue'));
  return new Map([...items].filter(([key, item]) => isKept(key, item)));
}
