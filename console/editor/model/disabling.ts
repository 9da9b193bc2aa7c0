/** Steps that are disabled, so that runs do not execute them. Pure. */
import type { WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import { isTrigger } from '../../workflows/kinds.ts';
import type { Draft } from './model.ts';
import { scopesOf } from './scopes.ts';

/** The nodes among these that can be disabled: all but the trigger, which `active` is for. */
function stepsOf({ spec }: Draft, ids: readonly string[]): WorkflowNode[] {
  return spec.nodes.filter((node) => ids.includes(node.id) && !isTrigger(node));
}

/** What disabling these nodes would do: `Enable` if all of them are disabled; undefined without a step. */
export function switchOf(draft: Draft, ids: readonly string[]): 'Disable' | 'Enable' | undefined {
  const steps = stepsOf(draft, ids);
  if (steps.length === 0) return undefined;
  return steps.every(({ disabled }) => disabled) ? 'Enable' : 'Disable';
}

/** Disables the steps among these nodes, or, if all of them are disabled, enables them. */
export function switchNodes(draft: Draft, ids: readonly string[]): Draft {
  const action = switchOf(draft, ids);
  if (action === undefined) return draft;
  const steps = new Set(stepsOf(draft, ids));
  const nodes = draft.spec.nodes.map((node) => {
    if (!steps.has(node)) return node;
    const { disabled: _was, ...enabled } = node;
    return action === 'Enable' ? enabled : { ...enabled, disabled: true };
  });
  return { ...draft, spec: { ...draft.spec, nodes } };
}

/** The nodes that runs do not execute: disabled ones, and the bodies of disabled groups. */
export function disabledIn({ nodes }: Pick<WorkflowSpec, 'nodes'>): Set<string> {
  const disabled = nodes.filter((node) => node.disabled).map(({ id }) => id);
  if (disabled.length === 0) return new Set();
  const { bodyOf } = scopesOf(nodes);
  return new Set(disabled.flatMap((id) => [id, ...bodyOf(id)]));
}
