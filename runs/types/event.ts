/** Live events of a run. */
import type { NodePhase, RunPhase } from '../../api/phase.ts';
import type { NodeStatus } from '../../api/nodeStatus.ts';
import type { ItemCounts } from './node.ts';

/** A live event of a run. `id` counts from 1; a reader that names the last one it saw gets those after it. */
export type RunEvent =
  | { id: string; type: 'run'; phase: RunPhase; reason?: string; message?: string; at: number }
  | {
      id: string;
      type: 'node';
      node: string;
      phase: NodePhase;
      attempt: number;
      reason?: string;
      message?: string;
      items?: EventCounts;
      at: number;
    }
  | { id: string; type: 'items'; node: string; items: EventCounts; at: number }
  /**
   * `call`, `delivery`: the request to a model that brought the text, and the claim under which it was made.
   * A text with another pair starts over.
   */
  | {
      id: string;
      type: 'text';
      node: string;
      text: string;
      /** Of an agent with tools: where the transcript will have the answer. */
      position?: number;
      /** Earlier text of the node for this position is void: the request is repeated. */
      reset?: true;
      call?: number;
      delivery?: number;
      at: number;
    }
  | {
      id: string;
      type: 'transcript';
      node: string;
      /** In the transcript, from 0. A later event replaces the entry. */
      position: number;
      entry: EntryStatus;
      /** Earlier entries of the node are void. */
      reset?: true;
      at: number;
    };

export type RunEventBody = RunEvent extends infer Event
  ? Event extends RunEvent
    ? Omit<Event, 'id' | 'at'>
    : never
  : never;

/** How far a node with forEach is, in a live event. */
export type EventCounts = Pick<ItemCounts, 'total' | 'succeeded' | 'failed' | 'running'>;

/** An entry of a transcript, as records and live events have it. */
export type EntryStatus = NonNullable<NodeStatus['transcript']>['entries'][number];
