/**
 * Whether a run can go on after its record alone. Records are bounded: what was cut away, or never kept, is lost with the run
 * store, and matters only where a step that is still to run needs it. Pure.
 */
import { compileCondition, conditionReferences } from '../../api/cel.ts';
import { ANNOTATION } from '../../api/group.ts';
import { printReference, type Reference } from '../../api/expression/reference.ts';
import { compileValue, referencesOf } from '../../api/expression/template.ts';
import type { WorkflowRun } from '../../api/kinds.ts';
import type { Revision, RevisionStep } from '../../api/revision.ts';
import type { NodeStatus } from '../../api/run.ts';
import { namesOfNodes } from '../../nodes/code/source.ts';
import { nodesNamed } from '../../nodes/skills/values.ts';
import { templatesOf, valuesOf } from '../../nodes/step.ts';

const ENDED: readonly string[] = ['Succeeded', 'Failed', 'Cancelled', 'Skipped', 'Unknown'];

/** Whether the record says that the node will never run again. */
export function hasEnded({ phase }: Pick<NodeStatus, 'phase'>): boolean {
  return ENDED.includes(phase);
}

/** What is lost of a node's output: nothing, what does not fit, or also what a record never holds. */
type Loss = { text: boolean; data: boolean; headers: boolean };

/** The first thing that a step still needs and the record does not hold, as it is written; undefined if there is none. */
export function lostReference(run: WorkflowRun, revision: Revision): string | undefined {
  const losses = lossesOf(run, revision);
  if (losses.size === 0) return undefined;
  const ended = new Set((run.status?.nodes ?? []).filter(hasEnded).map(({ id }) => id));
  const isNeeded = (id: string) => !ended.has(id);
  const steps = revision.steps.filter(({ id }) => isNeeded(id)).flatMap((step) => lostInStep(step, losses));
  const conditions = revision.edges
    .filter(({ to }) => isNeeded(to))
    .flatMap(({ when }) => (when === undefined ? [] : conditionReferences(compileCondition(when))))
    .filter((id) => isLost(losses.get(id)))
    .map((id) => `nodes.${id}`);
  return [...steps, ...conditions][0];
}

function lossesOf({ metadata, spec, status }: WorkflowRun, { trigger }: Revision): Map<string, Loss> {
  const losses = new Map<string, Loss>();
  for (const { id, truncated, output } of status?.nodes ?? []) {
    const data = (output?.data_content ?? null) === null;
    if (truncated) losses.set(id, { text: true, data, headers: false });
  }
  const isCut = spec.inputTruncated === true || losses.has(trigger.id);
  const isPartial = metadata.annotations?.[ANNOTATION.partialInput] === 'true';
  const data = (spec.input?.data_content ?? null) === null;
  if (isCut) losses.set(trigger.id, { text: true, data, headers: isPartial });
  else if (isPartial) losses.set(trigger.id, { text: false, data: false, headers: true });
  return losses;
}

function lostInStep(step: RevisionStep, losses: ReadonlyMap<string, Loss>): string[] {
  const values = valuesOf(step);
  const inCode = step.kind === 'code' ? namesOfNodes(step.code.source) : [];
  const named = [...(values ? nodesNamed(values).flatMap(({ ids }) => ids) : []), ...inCode];
  const references = [...referencesOf(compileValue(templatesOf(step)))];
  return [
    ...named.filter((id) => isLost(losses.get(id))).map((id) => `nodes.${id}`),
    ...references.filter((reference) => isReferenceLost(reference, losses)).map(printReference),
  ];
}

/** A condition names a node, and not which part of its output. */
function isLost(loss: Loss | undefined): boolean {
  return loss !== undefined && (loss.text || loss.data);
}

function isReferenceLost(reference: Reference, losses: ReadonlyMap<string, Loss>): boolean {
  if (reference.source !== 'node') return false;
  const loss = losses.get(reference.node);
  if (!loss) return false;
  if (reference.member === 'text_content') return loss.text;
  if (reference.member === 'data_content') return loss.data;
  return reference.member === 'headers' && loss.headers;
}
