/** Pasted YAML or JSON: copied nodes, or a Workflow. Pure. */
import { LineCounter, parse, parseDocument } from 'yaml';
import { readFragment, type Fragment } from '../model/fragment.ts';
import type { Pasted } from './format.ts';

/** How a manifest says what it is, also where the rest of it is broken. */
const SAYS_WORKFLOW = /^(?:apiVersion:\s*windlass\.dev\/|kind:\s*Workflow\s*$)/m;

/** Whether the text has nodes of a workflow, or says that it is one. */
export function isManifest(text: string): boolean {
  return SAYS_WORKFLOW.test(text) || fragmentIn(text) !== undefined;
}

/** The nodes of the text, which `isManifest` recognizes, or why it has none. */
export function convertManifest(text: string): Pasted {
  const fragment = fragmentIn(text);
  if (fragment !== undefined) return { kind: 'nodes', fragment };
  const lines = new LineCounter();
  const [error] = parseDocument(text, { prettyErrors: false, lineCounter: lines }).errors;
  if (error === undefined) return { kind: 'problem', problem: 'The text has no list of nodes.' };
  const { line } = lines.linePos(error.pos[0]);
  return { kind: 'problem', problem: `The YAML is invalid in line ${line}: ${error.message}` };
}

function fragmentIn(text: string): Fragment | undefined {
  try {
    return readFragment(parse(text));
  } catch {
    return undefined;
  }
}
