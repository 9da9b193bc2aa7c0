/**
 * The part of a draft that a test run executes, and what is wrong with it. Pure. Import it lazily: the CEL
 * compiler is large.
 */
import type { Mock } from '../../../api/mock.ts';
import { specUpTo } from '../../../api/upTo.ts';
import type { WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import { liveProblems, type LiveProblem } from '../dialogs/liveProblems.ts';
import type { Problems } from '../model/problems.ts';
import type { FilledField } from '../panel/nodeFields.ts';
import { isTrigger } from '../../workflows/kinds.ts';

export type Tested = {
  /** The last node of the run; undefined: it executes the whole draft. */
  until?: string | undefined;
  /** Outputs in place of executing their nodes. */
  mocks?: readonly Mock[] | undefined;
};

type Draft = {
  spec: WorkflowSpec;
  /** Those that the editor shows. */
  problems: Problems;
  fieldsOf: (node: WorkflowNode) => FilledField[];
};

/** Those that keep the run from starting come first: dialogs list the first ones. */
type TestedPart = { spec: WorkflowSpec; problems: LiveProblem[] };

/**
 * Leaves out nodes that do not run before the last one, and the problems of nodes that a mock replaces. No
 * test run executes the trigger: a credential that it lacks is no problem.
 */
export function testedPart(
  { spec: draft, problems, fieldsOf }: Draft,
  { until, mocks = [] }: Tested,
): TestedPart {
  const spec = specUpTo(draft, until);
  const given = new Set(mocks.flatMap(({ node, tool }) => (tool === undefined ? [node] : [])));
  const trigger = spec.nodes.find(isTrigger)?.id;
  const found = liveProblems(spec, fieldsOf, problems, draft).filter(
    ({ place, missing }) => missing === undefined || place !== trigger,
  );
  // A missing credential needs no stand-in: neither the API server nor the operator refuses a run for it.
  const wrong = new Set(found.flatMap(({ place, missing }) => (missing === undefined ? [place] : [])));
  const nodes = spec.nodes.map((node) => (given.has(node.id) && wrong.has(node.id) ? standIn(node) : node));
  const executed = found.filter(({ place }) => !given.has(place));
  return { spec: { ...spec, nodes }, problems: executed.toSorted(byConsequence) };
}

/**
 * Whether the run cannot start before the problem is solved. A refusal by the API server without a place may
 * be due to a policy for workflows, which does not apply to runs of drafts. A run may never use the
 * credential of a tool or of another model.
 */
export function preventsRun({ isRefused, place, setting, missing }: LiveProblem): boolean {
  return missing !== 'optional' && (isRefused !== true || place !== '' || setting !== undefined);
}

const byConsequence = (one: LiveProblem, other: LiveProblem): number =>
  Number(preventsRun(other)) - Number(preventsRun(one));

/** A valid node that its output replaces, for one that the API server or the operator would refuse. */
function standIn({ id, displayName, within, sensitive }: WorkflowNode): WorkflowNode {
  return {
    id,
    ...(displayName !== undefined && { displayName }),
    ...(within !== undefined && { within }),
    ...(sensitive !== undefined && { sensitive }),
    skill: { name: 'set', parameters: { values: {} } },
  };
}
