/** Child runs of the tool calls of an agent: starts them, and gives the agent their ends. */
import { createHash } from 'node:crypto';
import { StepError } from '../api/reasons.ts';
import type { CalleeInfo, ChildCalls } from '../nodes/contract/node.ts';
import { getCallee } from '../runs/callees.ts';
import { getRevision } from '../runs/revisions.ts';
import type { ClaimRef } from '../runs/types/claim.ts';
import type { ChildResult } from '../runs/types/result.ts';
import { isUnavailable } from '../store/connection.ts';
import type { AwaitedChildren } from './awaitedChildren.ts';
import { callWorkflow } from './callWorkflow.ts';
import { resultOfChild } from './childResult.ts';
import type { CallDeps } from './earlierChildren.ts';
import { type ExecutionState, itemOf, locate } from './executionState.ts';
import { isInDoubt } from './restoreLost.ts';
import { retryUntilStored } from './retryUntilStored.ts';
import { trackChild } from './waits.ts';

/** `ref`: the claim of the run, as it is now. `regain`: see `callWorkflow`. */
type Parts = {
  deps: CallDeps;
  state: ExecutionState;
  awaited: AwaitedChildren;
  ref: () => ClaimRef;
  regain: () => Promise<boolean>;
};

/** The child runs of the agent with this key. */
export function childCallsOf({ deps, state, awaited, ref, regain }: Parts, key: string): ChildCalls {
  const { values } = state.signals;
  const track = (child: string): void => {
    if (!values.has(child)) trackChild(state, key, child);
  };
  return {
    describe: (workflow) => describeCallee(deps, state, workflow),
    start: async ({ workflow, input, effectKey }) => {
      const { scope, id } = locate(state, key);
      const called = await callWorkflow(deps, {
        parent: state.claim.state,
        ref,
        regain,
        node: id,
        step: { name: workflow },
        fields: { input },
        item: itemOf(scope),
        effectKey: `${effectKey}/${inputHash(input)}`,
        isInDoubt: isInDoubt(state, scope, id),
      });
      if (!('child' in called)) throw new Error('a tool call waits for its child run');
      track(called.child);
      if (called.isKnown) state.doubtfulChildren.push(key);
      return called.child;
    },
    await: track,
    resultOf: (workflow, child) => {
      const result = values.get(child) as ChildResult | undefined;
      if (result?.reason === 'EffectUnknown') {
        const message = `an effect of run ${child} of workflow ${workflow} is in doubt: ${result.message}`;
        throw new StepError('EffectUnknown', message);
      }
      return result && resultOfChild({ name: workflow }, child, result);
    },
    nextEnd: () => awaited.nextEnd(key),
    drop: (child) => {
      state.consumed.push(child);
      values.delete(child);
    },
  };
}

/**
 * A part of the key of a child run. An agent that begins again after a loss of the run store may call a tool
 * with other arguments under the same effect key: that is another child run.
 */
function inputHash(input: unknown): string {
  return createHash('sha256').update(JSON.stringify(input)).digest('hex').slice(0, 16);
}

async function describeCallee(
  { conn, abandon }: CallDeps,
  { claim }: ExecutionState,
  name: string,
): Promise<CalleeInfo | undefined> {
  const { project } = claim.state;
  const read = async () => {
    const callee = await getCallee(conn, project, name);
    if (callee === undefined || isUnavailable(callee)) return callee ?? { outcome: 'missing' as const };
    const revision = await getRevision(conn, project, callee.revision);
    if (revision && isUnavailable(revision)) return revision;
    const { description } = callee;
    const { inputSchema } = revision?.trigger ?? {};
    const info = { ...(description !== undefined && { description }), ...(inputSchema && { inputSchema }) };
    return { outcome: 'found' as const, info };
  };
  const found = await retryUntilStored(read, abandon);
  if (!found) throw new StepError('Cancelled', 'the runner was stopped');
  return found.outcome === 'found' ? found.info : undefined;
}
