/**
 * The scopes of a draft: which nodes belong to the body of which group. Drafts may be invalid: a node within
 * something that is not a group, or within its own body, counts as outside of groups. Pure.
 */
import { MAX_DEPTH, RUN_SCOPE, visibilityOf, type Visibility } from '../../../api/scopes.ts';
import type { WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import { isTrigger } from '../../workflows/kinds.ts';

export type Scopes = {
  /** The group whose body the node belongs to; `RUN_SCOPE` for none. */
  readonly of: (id: string) => string;
  /** The groups around a node, the innermost first. */
  readonly around: (id: string) => readonly string[];
  /** The nodes of a body, with the bodies of groups in it, in the order of the list. */
  readonly bodyOf: (group: string) => readonly string[];
  /** The nodes of a scope without the bodies of its groups, in the order of the list. */
  readonly members: (scope: string) => readonly WorkflowNode[];
};

/** The index of the shown item, by loop. Default 0. */
export type ShownItems = Readonly<Record<string, number>>;

/** The item that is shown of a loop. An ID may be the name of an inherited member, such as constructor. */
export function shownIndex(items: ShownItems, loop: string): number {
  return Object.hasOwn(items, loop) ? (items[loop] ?? 0) : 0;
}

export function scopesOf(nodes: readonly WorkflowNode[]): Scopes {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const around = new Map(nodes.map(({ id }) => [id, groupsAround(byId, id)]));
  const of = (id: string) => around.get(id)?.[0] ?? RUN_SCOPE;
  const members = Map.groupBy(nodes, ({ id }) => of(id));
  return {
    of,
    around: (id) => around.get(id) ?? [],
    bodyOf: (group) => nodes.flatMap(({ id }) => (around.get(id)?.includes(group) ? [id] : [])),
    members: (scope) => members.get(scope) ?? [],
  };
}

function groupsAround(byId: ReadonlyMap<string, WorkflowNode>, id: string): string[] {
  const found: string[] = [];
  for (let at = byId.get(id)?.within; at !== undefined; at = byId.get(at)?.within) {
    if (at === id || found.includes(at)) return [];
    if (byId.get(at)?.group === undefined) return found;
    found.push(at);
  }
  return found;
}

/** The nodes that each node of the draft can name. */
export function visibilityOfDraft({ nodes, edges }: Pick<WorkflowSpec, 'nodes' | 'edges'>): Visibility {
  const { around } = scopesOf(nodes);
  const scoped = nodes.map((node) => ({
    id: node.id,
    trigger: isTrigger(node),
    // Not `within` itself: while YAML is typed, a group can be in its own body.
    within: around(node.id)[0],
    group: node.group !== undefined,
    ...(node.disabled && { disabled: true }),
  }));
  return visibilityOf(scoped, edges);
}

/** Why the nodes cannot be moved into the group, or out of all groups; undefined if they can. */
export function moveProblem(
  nodes: readonly WorkflowNode[],
  ids: readonly string[],
  group: string | undefined,
): string | undefined {
  if (group === undefined) return undefined;
  const scopes = scopesOf(nodes);
  if (nodes.some((node) => ids.includes(node.id) && isTrigger(node)))
    return 'The trigger starts the workflow, so it cannot be in a group.';
  if (ids.some((id) => id === group || scopes.around(group).includes(id)))
    return 'A group cannot be in its own body.';
  const outside = scopes.around(group).length + 1;
  const isDeep = ids.some((id) => outside + heightOf(nodes, scopes, id) > MAX_DEPTH);
  return isDeep ? `Groups can be nested at most ${MAX_DEPTH} levels deep.` : undefined;
}

/** How many levels of groups a node has, itself included. */
function heightOf(nodes: readonly WorkflowNode[], scopes: Scopes, id: string): number {
  if (nodes.find((node) => node.id === id)?.group === undefined) return 0;
  const groups = scopes.bodyOf(id).filter((inner) => nodes.some((node) => node.id === inner && node.group));
  return 1 + Math.max(0, ...groups.map((inner) => scopes.around(inner).indexOf(id) + 1));
}
