/** Pasted YAML or JSON: copied nodes, or a Workflow. Pure. */
import { parse } from 'yaml';
import { readFragment } from '../model/fragment.ts';
import type { Pasted } from './format.ts';

/** Whether the text has nodes of a workflow. */
export function isManifest(text: string): boolean {
  return readFragment(parsed(text)) !== undefined;
}

/** The nodes of the text, which `isManifest` recognizes. */
export function convertManifest(text: string): Pasted {
  const fragment = readFragment(parsed(text));
  return fragment === undefined
    ? { kind: 'problem', problem: 'The text has no list of nodes.' }
    : { kind: 'nodes', fragment };
}

function parsed(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}
