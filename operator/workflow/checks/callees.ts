/** Checks of the workflows that a workflow runs. */
import type { WorkflowSpec } from '../../../api/workflow.ts';
import type { Violation } from './check.ts';

/** The names of the workflows that a workflow of the namespace runs; undefined if it does not exist. */
export type Callees = (name: string) => readonly string[] | undefined;

/** Every workflow node names a workflow that exists, and that does not run this workflow again. */
export function calleesExist({ nodes }: WorkflowSpec, name: string, calleesOf: Callees): Violation[] {
  return nodes.flatMap(({ id, workflow }): Violation[] => {
    if (!workflow) return [];
    const place = `node ${id}: workflow.name`;
    // The spec of this workflow may be newer than the one that the callees are read from.
    const cycle = workflow.name === name ? [name] : pathTo(name, workflow.name, calleesOf);
    if (cycle) {
      const path = [name, ...cycle].join(' → ');
      const message = `${place}: the workflow would run itself without end: ${path}. Remove one of these nodes`;
      return [{ reason: 'WorkflowCycle', message }];
    }
    if (calleesOf(workflow.name) !== undefined) return [];
    const message = `${place}: there is no workflow ${workflow.name} in this namespace: apply it, or correct the name`;
    return [{ reason: 'WorkflowMissing', message }];
  });
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
