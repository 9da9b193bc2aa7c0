/** A workflow of n8n as the import reads it. */
import type { Json } from './json.ts';

export type N8nNode = {
  name: string;
  /** Such as `n8n-nodes-base.set`. */
  type: string;
  version: number;
  parameters: Json;
  /** The credentials by type, such as `smtp`. */
  credentials: Record<string, { id: string; name: string }>;
  isDisabled: boolean;
  /** Whether and how the node lets its own failure pass. */
  onError: 'stop' | 'regular' | 'error';
  retries: { limit: number; pauseMs: number } | undefined;
  executeOnce: boolean;
  alwaysOutputs: boolean;
  note: string;
};

/** A connection. `kind`: `main`, or that of a sub-node such as `ai_tool`. */
export type Link = { from: string; output: number; to: string; input: number; kind: string };

export type N8nWorkflow = {
  id: string;
  name: string;
  nodes: N8nNode[];
  links: Link[];
  settings: Json;
  /** Pinned items by node. */
  pins: Json;
};

/** The part of a type after its package: `set` of `n8n-nodes-base.set`. */
export const shortType = (type: string): string => type.split('.').at(-1) ?? type;

/** A node that the import adds: its own options are those that n8n gives a new node. */
export const addedNode = ({
  name,
  type,
  version,
  parameters,
}: {
  name: string;
  type: string;
  version: number;
  parameters: Json;
}): N8nNode => ({
  name,
  type,
  version,
  parameters,
  credentials: {},
  isDisabled: false,
  onError: 'stop',
  retries: undefined,
  executeOnce: false,
  alwaysOutputs: false,
  note: '',
});

/** The name, or the name with a number, that no node of the workflow has. */
export function uniqueName({ nodes }: N8nWorkflow, wanted: string): string {
  let name = wanted;
  for (let count = 2; nodes.some((node) => node.name === name); count += 1) name = `${wanted} ${count}`;
  return name;
}
