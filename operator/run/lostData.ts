/**
 * Whether a run can continue from its record alone. Records are bounded: data that was cut or left out is
 * lost with the run store, which matters only if a step that has not run needs it. Pure.
 */
import { compileCondition, type ValueExpression } from '../../api/cel.ts';
import { ANNOTATION } from '../../api/group.ts';
import { printReference, type Reference, withoutPrevious } from '../../api/expression/reference.ts';
import { compileValue, referencesOf } from '../../api/expression/template.ts';
import type { WorkflowRun } from '../../api/kinds.ts';
import type { Revision, RevisionStep } from '../../api/revision.ts';
import type { NodeStatus } from '../../api/nodeStatus.ts';
import { namesOfNodes } from '../../nodes/code/source.ts';
import { nodesNamed } from '../../nodes/skills/values.ts';
import { templatesOf, valuesOf } from '../../nodes/step.ts';

const ENDED: readonly string[] = ['Succeeded', 'Failed', 'Cancelled', 'Skipped', 'Unknown'];

/** Whether the node has ended, by the record. */
export function hasEnded({ phase }: Pick<NodeStatus, 'phase'>): boolean {
  return ENDED.includes(phase);
}

/** The parts of a node's output that are lost. */
type Loss = { text: boolean; data: boolean; headers: boolean };

/** The first reference of a step that has not run whose value is lost; undefined if there is none. */
export function lostReference(run: WorkflowRun, revision: Revision): string | undefined {
  const losses = lossesOf(run, revision);
  if (losses.size === 0) return undefined;
  const ended = new Set((run.status?.nodes ?? []).filter(hasEnded).map(({ id }) => id));
  // The record shows one execution of a body. Others may follow until its outermost group has ended.
  const isNeeded = (id: string) => !ended.has(outermostOf(revision, id));
  const steps = revision.steps
    .filter(({ id }) => isNeeded(id))
    .flatMap((step) => lostInStep(step, losses, previousIn(revision, step.id)));
  const conditions = revision.edges
    .filter(({ to }) => isNeeded(to))
    .flatMap(({ from, when }) => (when === undefined ? [] : nodesIn(compileCondition(when), from)))
    .filter((id) => isLost(losses.get(id)))
    .map((id) => `nodes.${id}`);
  return [...steps, ...conditions][0];
}

/** The group around the node that is in no group; the node itself if there is none. */
function outermostOf({ steps }: Revision, id: string): string {
  let outermost = id;
  for (let at = steps.find((step) => step.id === id); at?.within !== undefined; ) {
    const group = at.within;
    outermost = group;
    at = steps.find((step) => step.id === group);
  }
  return outermost;
}

function lossesOf({ metadata, spec, status }: WorkflowRun, revision: Revision): Map<string, Loss> {
  const { trigger } = revision;
  const losses = new Map<string, Loss>();
  for (const { id, truncated, output } of status?.nodes ?? []) {
    // Nodes of a body are executed again with their group.
    if (outermostOf(revision, id) !== id) continue;
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

/** The node before a step, if there is exactly one; for the first nodes of a body that of the group. */
function previousIn(revision: Revision, id: string): string | undefined {
  const into = revision.edges.filter(({ to }) => to === id);
  if (into.length > 0) return into.length === 1 ? into[0]?.from : undefined;
  const within = revision.steps.find((step) => step.id === id)?.within;
  return within === undefined ? undefined : previousIn(revision, within);
}

function nodesIn(
  { references, names }: Pick<ValueExpression, 'references' | 'names'>,
  previous: string | undefined,
): string[] {
  return [...references, ...(names.previous && previous !== undefined ? [previous] : [])];
}

function lostInStep(
  step: RevisionStep,
  losses: ReadonlyMap<string, Loss>,
  previous: string | undefined,
): string[] {
  const values = valuesOf(step);
  const inCode = step.kind === 'code' ? namesOfNodes(step.code.source) : [];
  const inValues = values
    ? nodesNamed(values).flatMap(({ ids, names }) => nodesIn({ references: ids, names }, previous))
    : [];
  const named = [...inValues, ...inCode];
  const { forEach, repeat } = step;
  const templates = { ...templatesOf(step), ...(forEach && { items: forEach.items }) };
  const references = referencesOf(compileValue(templates)).map((reference) =>
    withoutPrevious(reference, previous),
  );
  const inUntil = repeat ? nodesIn(compileCondition(repeat.until), previous) : [];
  return [
    ...inUntil.filter((id) => isLost(losses.get(id))).map((id) => `nodes.${id}`),
    ...named.filter((id) => isLost(losses.get(id))).map((id) => `nodes.${id}`),
    ...references.filter((reference) => isReferenceLost(reference, losses)).map(printReference),
  ];
}

/** A condition names a node, and not a part of its output. */
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
