/** Checks of the workflows that a workflow runs. */
import { callsOf, type WorkflowSpec } from '../../../api/workflow.ts';
import type { Violation } from './check.ts';

/** The names of the workflows that a workflow of the namespace runs; undefined if it does not exist. */
export type Callees = (name: string) => readonly string[] | undefined;

/**
 * Every workflow node and every tool names a workflow that exists, and that does not run this workflow again.
 */
export function calleesExist({ nodes }: WorkflowSpec, name: string, calleesOf: Callees): Violation[] {
  return nodes.flatMap((node) =>
    callsOf(node).flatMap(({ field, name: callee }): Violation[] => {
      const place = `node ${node.id}: ${field}`;
      // The spec of this workflow may be newer than the one that the callees are read from.
      const cycle = callee === name ? [name] : pathTo(name, callee, calleesOf);
      if (cycle) {
        const path = [name, ...cycle].join(' → ');
        const message = `${place}: the workflow would run itself without end: ${path}. Remove one of these nodes or tools`;
        return [{ reason: 'WorkflowCycle', message }];
      }
      if (calleesOf(callee) !== undefined) return [];
      const message = `${place}: there is no workflow ${callee} in this namespace: apply it, or correct the name`;
      return [{ reason: 'WorkflowMissing', message }];
    }),
  );
}

/** The shortest path of workflows from one to the other, both included. */
function pathTo(target: string, from: string, calleesOf: Callees): string[] | undefined {
  const seen = new Set([from]);
  const paths = [[from]];
  for (const path of paths) {
    for (const callee of calleesOf(path.at(-1) ?? '') ?? []) {
      if (callee === target) return [...path, callee];
      if (seen.has(callee)) continue;
      seen.add(callee);
      paths.push([...path, callee]);
    }
  }
  return undefined;
}
