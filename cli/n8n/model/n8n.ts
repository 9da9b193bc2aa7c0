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
