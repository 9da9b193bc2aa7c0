/** Which problems of a spec are still those of its draft: not those whose place has changed since. Pure. */
import type { WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import { isEqual } from '../../kube/patch.ts';
import { edgeId, edgesOf } from './graph.ts';
import type { Found } from './problems.ts';

/**
 * The problems of `before` at places that are the same in `now`. Only the next check knows about the others.
 */
export function currentProblems(
  found: readonly Found[],
  before: WorkflowSpec,
  now: WorkflowSpec,
): readonly Found[] {
  if (before === now) return found;
  return found.filter(({ place, problem }) => {
    if (place === undefined)
      return problem.field === '' || isEqual(valueAt(before, problem.field), valueAt(now, problem.field));
    if ('edge' in place) return isEqual(edgeIn(before, place.edge), edgeIn(now, place.edge));
    const [old, node] = [nodeIn(before, place.node), nodeIn(now, place.node)];
    if (old === undefined || node === undefined) return false;
    const [was, is] = [valueAt(old, problem.field), valueAt(node, problem.field)];
    // A message may begin with a word that does not name a field.
    const isField = problem.field.includes('.') || was !== undefined || is !== undefined;
    return isField && problem.field !== ''
      ? isEqual(was, is)
      : isEqual(around(before, old), around(now, node));
  });
}

/** The problems at fields without a reported one: two checks describe one mistake in different words. */
export function withoutReported(found: readonly Found[], reported: readonly Found[]): Found[] {
  return found.filter(
    ({ place, problem: { field } }) =>
      !reported.some((other) => isEqual(other.place, place) && overlap(other.problem.field, field)),
  );
}

/** Whether one field is the other one, or in it. */
function overlap(one: string, other: string): boolean {
  const isIn = (inner: string, outer: string) =>
    inner === outer || inner.startsWith(`${outer}.`) || inner.startsWith(`${outer}[`);
  return isIn(one, other) || isIn(other, one);
}

const nodeIn = (spec: WorkflowSpec, id: string) => spec.nodes.find((node) => node.id === id);
const edgeIn = (spec: WorkflowSpec, id: string) => edgesOf(spec).find((edge) => edgeId(edge) === id);

/** The node with its connections and its body. */
function around(spec: WorkflowSpec, node: WorkflowNode): unknown {
  return {
    node,
    edges: edgesOf(spec).filter(({ from, to }) => from === node.id || to === node.id),
    body: spec.nodes.filter(({ within }) => within === node.id).map(({ id }) => id),
  };
}

/** The value at a path such as `agent.tools[0].name`; undefined: there is none. */
export function valueAt(within: WorkflowNode | WorkflowSpec, path: string): unknown {
  return path
    .split(/[.[\]]+/)
    .filter((step) => step !== '')
    .reduce<unknown>(
      (value, step) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, step)
          ? (value as Record<string, unknown>)[step]
          : undefined,
      within,
    );
}
