/** Checks that nothing reads the output of a disabled step, which has none. */
import type { WorkflowSpec } from '../../../api/workflow.ts';
import type { Violation } from './check.ts';

/** What to do about a condition or value that reads a disabled step. */
export const TEST_IN_CEL = 'test it first with has(nodes.<ID>)';
/** The same of a reference in a field. */
export const DEFAULT_IN_TEMPLATE = "give it a default, as in {{ $('<ID>').text_content ?? 'none' }}";

/** The violation if the node is disabled. `remedy`: how this place can do without the output. */
export function readsNoDisabled(
  { id, written }: { id: string; written: string },
  place: string,
  { nodes }: Pick<WorkflowSpec, 'nodes'>,
  remedy: string,
): Violation[] {
  if (!nodes.some((node) => node.id === id && node.disabled)) return [];
  const how = remedy.replaceAll('<ID>', id);
  const message = `${place}: ${written} never has a value, because node ${id} is disabled: enable ${id}, name another node, or ${how}`;
  return [{ reason: 'UnknownReference', message }];
}
