/**
 * Exports of n8n. Converting them compiles their JavaScript and applies the checks of the operator, which a
 * page of the console cannot do: the command line does it. Pure.
 */
import { isRecord } from '../../../api/record.ts';
import type { Pasted } from './format.ts';

/**
 * Whether the text is an export of n8n, or nodes that were copied there: the types of its nodes name a
 * package, and its connections are by name.
 */
export function isN8nExport(text: string): boolean {
  // Other texts are not parsed, because they may be long.
  if (!/^\s*[{[]/.test(text) || !text.includes('"connections"')) return false;
  return workflowsIn(text).length > 0;
}

/** The number of its nodes: a dialog says how to import it. */
export function convertN8nExport(text: string): Pasted {
  const nodes = workflowsIn(text).flatMap((workflow) => workflow.nodes.filter(isN8nNode));
  return { kind: 'n8n', nodes: nodes.length };
}

function workflowsIn(text: string): { nodes: unknown[] }[] {
  const json = parsed(text);
  const candidates = (Array.isArray(json) ? json : [json]).flatMap((each) =>
    isRecord(each) ? [each, each['workflow'], each['data']] : [],
  );
  return candidates.flatMap((each) => {
    if (!isRecord(each) || !isRecord(each['connections'])) return [];
    const { nodes } = each;
    return Array.isArray(nodes) && nodes.some(isN8nNode) ? [{ nodes }] : [];
  });
}

/** Types of n8n are `<package>.<name>`, such as `n8n-nodes-base.set`. */
function isN8nNode(node: unknown): boolean {
  return isRecord(node) && typeof node['name'] === 'string' && /^[\w@/-]+\.\w+$/.test(String(node['type']));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
