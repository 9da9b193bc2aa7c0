/** What a format of text is that people paste on the canvas. */
import type { WorkflowNode } from '../../../api/workflow.ts';
import type { Fragment } from '../model/fragment.ts';

/** What a text becomes. `notes`: what is left out, and what to do, in sentences. */
export type Pasted =
  /** Nodes beside those that are there, with their own connections. */
  | { kind: 'nodes'; fragment: Fragment; notes?: readonly string[] }
  /** One step behind the selected node. */
  | { kind: 'step'; node: WorkflowNode; notes?: readonly string[] }
  /** Nothing: a workflow of n8n with so many nodes, which the command line imports. */
  | { kind: 'n8n'; nodes: number }
  /** Nothing: why, and what to do. */
  | { kind: 'problem'; problem: string };

type Converter = (text: string) => Pasted;

/**
 * A format. `recognizes` is asked at each paste, so that it must be fast, and must not take texts of other
 * formats. `load` loads the converter when the first text of the format is pasted: what it imports is not
 * part of the editor before.
 */
export type PasteFormat = {
  /** The name in messages: `The ‹name› …`. */
  readonly name: string;
  readonly recognizes: (text: string) => boolean;
  readonly load: () => Promise<Converter>;
};
