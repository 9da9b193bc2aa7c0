/** What a node of n8n became, and where its items are. */
import type { WorkflowEdge, WorkflowNode } from '../../../api/workflow.ts';
import type { PathStep } from '../expressions/expression.ts';

/**
 * Where the items of one output of a converted node are. JavaScript and references are those that a later
 * node can evaluate.
 */
export type Items = {
  /** The node from which edges lead on. */
  node: string;
  /** JavaScript whose value is the list of the items' data. */
  list: string;
  /** For outputs of exactly one item: the reference to a member, or undefined if only code can read it. */
  single?: (path: readonly PathStep[]) => string | undefined;
  /** A reference to a list whose elements are the items' data. */
  array?: string;
  /** A condition in CEL that the output has an item. */
  when?: string;
  after?: 'Failure';
  /**
   * Outputs with equal lineage have the same number of items, in the same order. Empty: at most one item.
   */
  lineage: string;
  /** JavaScript for the positions that the items have in outputs of other lineages, by lineage. */
  origins?: ReadonlyMap<string, string>;
  /**
   * Whether the only item is made of all items before: of another node it has an item only if that has one.
   */
  isWhole?: boolean;
};

/** What a node became. */
export type Draft = {
  nodes: WorkflowNode[];
  edges: WorkflowEdge[];
  /** The node that edges lead to. */
  entry: string;
  outputs: Items[];
};
