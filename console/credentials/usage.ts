/** Which nodes of which workflows refer to a credential. */
import { membersOf } from '../../api/record.ts';
import { ApiFailure } from '../http/failure.ts';
import { listObjects } from '../kube/objects.ts';
import {
  DRAFTS,
  WORKFLOWS,
  type DraftObject,
  type KubeObject,
  type Resource,
  type WorkflowObject,
} from '../kube/resources.ts';
import { count } from '../ui/format.ts';
import { credentialsOf } from './credentialFields.ts';

/**
 * A workflow and its nodes that refer to a credential. `isDraft`: only the draft of the workflow refers to
 * it, and the nodes are those of the draft.
 */
export type Use = { workflow: string; displayName: string; nodes: UsingNode[]; isDraft?: true };

/** `name`: its display name, or the ID. */
type UsingNode = { id: string; name: string };

/** By the name of the credential. */
export type Usage = ReadonlyMap<string, readonly Use[]>;

type Workflows = readonly Pick<WorkflowObject, 'metadata' | 'spec'>[];
type Drafts = readonly Pick<DraftObject, 'metadata' | 'spec'>[];

/** A draft counts only if it belongs to one of the workflows: one of a deleted workflow may remain. */
export function usageOf(workflows: Workflows, drafts: Drafts = []): Usage {
  const stored = new Map(drafts.map(({ metadata, spec }) => [metadata.name, spec]));
  const usage = new Map<string, Use[]>();
  for (const { metadata, spec } of workflows) {
    const draft = stored.get(metadata.name);
    const published = nodesByCredential(spec.nodes);
    const drafted = nodesByCredential(draft?.base.uid === metadata.uid ? nodesIn(draft?.body) : []);
    const use = { workflow: metadata.name, displayName: spec.displayName ?? metadata.name };
    const add = (credential: string, more: Pick<Use, 'nodes' | 'isDraft'>): void =>
      void usage.set(credential, [...(usage.get(credential) ?? []), { ...use, ...more }]);
    for (const [credential, nodes] of published) add(credential, { nodes });
    for (const [credential, nodes] of drafted)
      if (!published.has(credential)) add(credential, { nodes, isDraft: true });
  }
  return usage;
}

/** The nodes in the `body` of a draft, which may be any text. */
function nodesIn(body = ''): unknown[] {
  try {
    const { nodes } = membersOf(membersOf(JSON.parse(body))['spec']);
    return Array.isArray(nodes) ? nodes : [];
  } catch {
    return [];
  }
}

/** The nodes that refer to each credential. Nodes of a draft need not be valid. */
function nodesByCredential(nodes: readonly unknown[]): ReadonlyMap<string, UsingNode[]> {
  const found = new Map<string, UsingNode[]>();
  for (const node of nodes) {
    const { id, displayName } = membersOf(node);
    if (typeof id !== 'string') continue;
    const name = typeof displayName === 'string' && displayName !== '' ? displayName : id;
    for (const credential of credentialsOf(node))
      found.set(credential, [...(found.get(credential) ?? []), { id, name }]);
  }
  return found;
}

/** How many workflows and drafts use it, such as `1 workflow and 2 drafts`. */
export function usesText(uses: readonly Use[]): string {
  const drafts = uses.filter(({ isDraft }) => isDraft).length;
  const workflows = uses.length - drafts;
  const texts = [
    ...(workflows > 0 ? [count(workflows, 'workflow')] : []),
    ...(drafts > 0 ? [count(drafts, 'draft')] : []),
  ];
  return texts.length === 0 ? 'No workflow' : texts.join(' and ');
}

const PAGE = 100;
/** The most workflows, and the most drafts, that are read. Projects rarely have more. */
const MOST = 2_000;

type Reading = { signal: AbortSignal; mayReadDrafts: boolean };

/** Reads the workflows of the project, and their drafts. Null if the user may not read the workflows. */
export async function readUsage(
  namespace: string,
  { signal, mayReadDrafts }: Reading,
): Promise<Usage | null> {
  const [workflows, drafts] = await Promise.all([
    readAll(WORKFLOWS, namespace, signal),
    mayReadDrafts ? readAll(DRAFTS, namespace, signal) : null,
  ]);
  return workflows && usageOf(workflows, drafts ?? []);
}

/** The objects, read page by page. Null if the user may not read them. */
async function readAll<T extends KubeObject>(
  resource: Resource<T>,
  namespace: string,
  signal: AbortSignal,
): Promise<T[] | null> {
  const objects: T[] = [];
  let token: string | undefined;
  try {
    do {
      const page = await listObjects(resource, namespace, {
        limit: PAGE,
        signal,
        ...(token !== undefined && { continue: token }),
      });
      objects.push(...page.items);
      token = page.continue;
    } while (token !== undefined && objects.length < MOST);
    return objects;
  } catch (error) {
    if (error instanceof ApiFailure && error.status === 403) return null;
    throw error;
  }
}
