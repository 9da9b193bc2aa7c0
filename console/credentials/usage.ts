/** Which nodes of which workflows refer to a credential. */
import { isRecord } from '../../api/record.ts';
import type { WorkflowNode } from '../../api/workflow.ts';
import { ApiFailure } from '../http/failure.ts';
import { listObjects } from '../kube/objects.ts';
import { WORKFLOWS, type WorkflowObject } from '../kube/resources.ts';

/** A workflow and the nodes in it that refer to a credential. */
export type Use = { workflow: string; displayName: string; nodes: UsingNode[] };

/** `name`: its display name, or the ID. */
type UsingNode = { id: string; name: string };

/** By the name of the credential. */
export type Usage = ReadonlyMap<string, readonly Use[]>;

export function usageOf(workflows: readonly Pick<WorkflowObject, 'metadata' | 'spec'>[]): Usage {
  const usage = new Map<string, Use[]>();
  for (const { metadata, spec } of workflows) {
    const nodesOf = new Map<string, UsingNode[]>();
    for (const node of spec.nodes)
      for (const credential of credentialsOfNode(node))
        nodesOf.set(credential, [
          ...(nodesOf.get(credential) ?? []),
          { id: node.id, name: node.displayName || node.id },
        ]);
    for (const [credential, nodes] of nodesOf) {
      const use = { workflow: metadata.name, displayName: spec.displayName ?? metadata.name, nodes };
      usage.set(credential, [...(usage.get(credential) ?? []), use]);
    }
  }
  return usage;
}

/** The credentials of a node: its own and those of an agent's tools and other models, each once. */
function credentialsOfNode(node: WorkflowNode): string[] {
  // A node of a draft may have no kind.
  const own = Object.values(node as Record<string, unknown>).flatMap((kind) =>
    isRecord(kind) ? [kind['credential']] : [],
  );
  const tools = (node.agent?.tools ?? []).map(({ credential }) => credential);
  const fallback = (node.agent?.fallback ?? []).map(({ credential }) => credential);
  const names = [...own, ...tools, ...fallback].filter((name): name is string => typeof name === 'string');
  return [...new Set(names)];
}

const PAGE = 100;
/** The limit of workflows to read. Projects rarely have more. */
const MOST = 2_000;

/** Reads the workflows of the project page by page. Null if the user may not read them. */
export async function readUsage(namespace: string, signal: AbortSignal): Promise<Usage | null> {
  const workflows: WorkflowObject[] = [];
  let token: string | undefined;
  try {
    do {
      const page = await listObjects(WORKFLOWS, namespace, {
        limit: PAGE,
        signal,
        ...(token !== undefined && { continue: token }),
      });
      workflows.push(...page.items);
      token = page.continue;
    } while (token !== undefined && workflows.length < MOST);
    return usageOf(workflows);
  } catch (error) {
    if (error instanceof ApiFailure && error.status === 403) return null;
    throw error;
  }
}
