/** Disabled nodes of n8n: steps that are not executed, and pass on what they were given. */
import type { NodeContext } from './context.ts';
import type { Draft } from './items.ts';

/** The context of a disabled node: notes say what would differ if it were enabled, and it is converted. */
export function withoutStates(context: NodeContext): NodeContext {
  return { ...context, note: (_state, note, of) => context.note('converted', note, of) };
}

/**
 * What the node became, disabled. Its first output has the items of its input, as in n8n; the others have no
 * counterpart. Conditions between its nodes would read outputs that do not exist.
 */
export function disabledDraft({ input }: NodeContext, draft: Draft): Draft {
  const { sources: _sources, ...items } = input;
  const ids = new Set(draft.nodes.map(({ id }) => id));
  const isOuter = (within: string | undefined) => within === undefined || !ids.has(within);
  return {
    nodes: draft.nodes.map((node) => (isOuter(node.within) ? { ...node, disabled: true } : node)),
    edges: draft.edges.map(({ from, to }) => ({ from, to })),
    entry: draft.entry,
    outputs: [{ ...items, node: draft.outputs[0]?.node ?? draft.entry }],
  };
}
