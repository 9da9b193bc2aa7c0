/** The nodes of the draft that the editor shows, so that the palette finds those that are not published. */
import { useEffect, useSyncExternalStore } from 'react';
import type { WorkflowNode } from '../../api/workflow.ts';

type Nodes = readonly WorkflowNode[] | undefined;

let open: Nodes;
const listeners = new Set<() => void>();

function set(next: Nodes): void {
  open = next;
  for (const listener of listeners) listener();
}

/** Offers the nodes as long as the component is mounted. */
export function useOfferedNodes(nodes: readonly WorkflowNode[]): void {
  useEffect(() => set(nodes), [nodes]);
  useEffect(() => () => set(undefined), []);
}

/** The nodes of the open editor; undefined without one. */
export function useOpenNodes(): Nodes {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => open,
  );
}
