/** The part of a revision that the console reads: nodes in order, and their predecessors. */
import { queryOptions } from '@tanstack/react-query';
import { ApiFailure } from '../http/failure.ts';
import { getObject } from '../kube/objects.ts';
import { REVISIONS, type RevisionObject } from '../kube/resources.ts';
import { MAX_DEPTH } from '../../api/scopes.ts';
import { membersOf } from '../../api/record.ts';
import { isMarkedAsDraft, specOfVersion } from '../../api/version.ts';
import { nodeNamesOf, type NodeNames } from '../workflows/nodeNames.ts';
import { failedCredentials } from './failedCredential.ts';
import { callsOfItems, type LoopAround, type LoopNode } from './output/items.ts';

export type RevisionShape = {
  ids: string[];
  /** The nodes with an edge to this one; for the first nodes of a body those before its group. */
  before: (id: string) => string[];
  /** In how many groups a node is. */
  depth: (id: string) => number;
  /** The innermost loop with `forEach` whose body has the node. */
  loopAround: (id: string) => LoopAround | undefined;
  /**
   * The nodes that are executed once for each item of the loop and may run another workflow: itself, or those
   * of its body.
   */
  callsOf: (id: string) => string[];
  /** Whether the node is an agent with a tool that runs another workflow. */
  hasWorkflowTools: (id: string) => boolean;
  /** Whether the node is an agent with tools. */
  isAgent: (id: string) => boolean;
  /** The credentials that the failure of the node is about. */
  failedCredentials: (node: { id: string; reason?: string; message?: string }) => string[];
  /** Whether what the node says is withheld while the run is unfinished. */
  isWithheld: (id: string) => boolean;
};

/** The content of the revision; null if it no longer exists or may not be read. */
export function revisionQuery(namespace: string, name: string | undefined) {
  return queryOptions({ ...objectQuery(namespace, name), select: (revision) => revision?.data ?? null });
}

/** The display names of the nodes of the revision; null if it does not hold them, or may not be read. */
export function nodeNamesQuery(namespace: string, name: string | undefined) {
  return queryOptions({ ...objectQuery(namespace, name), select: nodeNamesIn });
}

const nodeNamesIn = (revision: RevisionObject | null): NodeNames | null => {
  const spec = revision && specOfVersion(revision.metadata);
  return spec ? nodeNamesOf(spec.nodes) : null;
};

/** Whether the revision is that of a draft; null if it no longer exists or may not be read. */
export function isDraftQuery(namespace: string, name: string | undefined) {
  return queryOptions({
    ...objectQuery(namespace, name),
    select: (revision) => revision && isMarkedAsDraft(revision.metadata.annotations),
  });
}

function objectQuery(namespace: string, name: string | undefined) {
  return queryOptions({
    queryKey: ['revision', namespace, name],
    enabled: name !== undefined,
    staleTime: Infinity,
    queryFn: async ({ signal }): Promise<RevisionObject | null> => {
      try {
        return await getObject(REVISIONS, namespace, name ?? '', signal);
      } catch (error) {
        if (error instanceof ApiFailure && (error.status === 404 || error.status === 403)) return null;
        throw error;
      }
    },
  });
}

type Ran = {
  revision: string | undefined;
  test: boolean;
  /** The revision of the workflow. */
  today: string | undefined;
  /** Null: unknown. Undefined: not known yet. */
  isDraft: boolean | null | undefined;
};

/** What a run executed, if that is not what the workflow has: in a word, and in a sentence. */
export function otherThanToday({
  revision,
  test,
  today,
  isDraft,
}: Ran): { text: string; why: string } | undefined {
  if (revision === undefined || today === undefined || revision === today) return undefined;
  if (!test || isDraft === false)
    return { text: 'Other version', why: 'The run executed another version than the published one.' };
  if (isDraft === true)
    return { text: 'Draft', why: 'The test run executed a draft that was not published.' };
  if (isDraft === undefined) return undefined;
  return {
    text: 'Draft or other version',
    why: 'The test run executed a draft, or another version than the published one: it no longer exists, or you are not allowed to read it.',
  };
}

/** Parses the shape of a revision. Without one the graph is unknown. */
export function shapeOf(data: unknown): RevisionShape {
  const { trigger, steps, edges, recordData, sensitive } = membersOf(data);
  const nodes = [trigger, ...list(steps)].map((node) => membersOf(node));
  const ends = list(edges).map((edge) => membersOf(edge));
  const nodeOf = (id: string) => nodes.find((node) => node['id'] === id) ?? {};
  const groupOf = (id: string): string | undefined => {
    const { within } = nodeOf(id);
    return isText(within) ? within : undefined;
  };
  const before = (id: string): string[] => {
    const sources = ends
      .filter(({ to }) => to === id)
      .map(({ from }) => from)
      .filter(isText);
    const group = groupOf(id);
    return sources.length > 0 || group === undefined || group === id ? sources : before(group);
  };
  const depth = (id: string, most = MAX_DEPTH): number => {
    const group = groupOf(id);
    return group === undefined || most === 0 ? 0 : 1 + depth(group, most - 1);
  };
  const loopAround = (id: string, most = MAX_DEPTH): LoopAround | undefined => {
    const group = groupOf(id);
    if (group === undefined || most === 0) return undefined;
    const { items, batch } = membersOf(nodeOf(group)['forEach']);
    if (!isText(items)) return loopAround(group, most - 1);
    return { id: group, items, batch: typeof batch === 'number' ? batch : 1 };
  };
  return {
    ids: nodes.map(({ id }) => id).filter(isText),
    before,
    depth: (id) => depth(id),
    loopAround: (id) => loopAround(id),
    callsOf: (id) => callsOfItems(nodes.map(toLoopNode), id),
    hasWorkflowTools: (id) => hasWorkflowTool(nodeOf(id)),
    isAgent: (id) => list(membersOf(nodeOf(id)['agent'])['tools']).length > 0,
    failedCredentials: (node) => failedCredentials(nodeOf(node.id), node),
    isWithheld: (id) => recordData !== undefined || list(sensitive).includes(id),
  };
}

function hasWorkflowTool({ agent }: Record<string, unknown>): boolean {
  return list(membersOf(agent)['tools']).some((tool) => isText(membersOf(tool)['workflow']));
}

function toLoopNode(node: Record<string, unknown>): LoopNode {
  const { id, within, kind, forEach } = node;
  return {
    id: isText(id) ? id : '',
    within: isText(within) ? within : undefined,
    isCall: kind === 'workflow' || hasWorkflowTool(node),
    hasItems: forEach !== undefined,
  };
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
