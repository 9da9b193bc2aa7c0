/**
 * What the components on the screen offer to the command palette: the nodes of the open draft, and the
 * actions of their buttons. A component offers an action as long as its user may choose it, so that the
 * palette needs no second knowledge of rights and states.
 */
import { useEffect, useRef, useSyncExternalStore } from 'react';
import type { WorkflowNode } from '../../api/workflow.ts';

type Nodes = readonly WorkflowNode[] | undefined;
type Actions = ReadonlyMap<string, () => void>;
type Offered = { nodes: Nodes; actions: Actions };

let offered: Offered = { nodes: undefined, actions: new Map() };
const listeners = new Set<() => void>();

function set(next: Partial<Offered>): void {
  offered = { ...offered, ...next };
  for (const listener of listeners) listener();
}

/** Offers the nodes as long as the component is mounted, also those that are not published. */
export function useOfferedNodes(nodes: readonly WorkflowNode[]): void {
  useEffect(() => set({ nodes }), [nodes]);
  useEffect(() => () => set({ nodes: undefined }), []);
}

/** Offers the action under this label as long as the component is mounted and `act` is given. */
export function useOfferedAction(label: string, act: (() => void) | undefined): void {
  const latest = useRef(act);
  latest.current = act;
  const isOffered = act !== undefined;
  useEffect(() => {
    if (!isOffered) return undefined;
    const own = (): void => latest.current?.();
    set({ actions: new Map([...offered.actions, [label, own]]) });
    return () => set({ actions: new Map([...offered.actions].filter(([, other]) => other !== own)) });
  }, [label, isOffered]);
}

/** The nodes of the open editor; undefined without one. */
export const useOpenNodes = (): Nodes => useOffered().nodes;

/** The offered actions by their labels. */
export const useOpenActions = (): Actions => useOffered().actions;

function useOffered(): Offered {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => offered,
  );
}
