/**
 * Which steps the record shows as sent, and which of their parameters sensitive nodes may give. Steps without
 * an effect, or whose parameters have no references, cost nothing.
 */
import type { Reference } from '../api/expression/reference.ts';
import { compileValue, referencesOf } from '../api/expression/template.ts';
import type { Revision, RevisionStep } from '../api/revision.ts';
import { hasNoEffect } from '../nodes/register.ts';
import { type StepFields, templatesOf } from '../nodes/step.ts';

/** How a step is shown. `withheld`: the parameters that sensitive nodes may give, by name. */
export type SentPlan = { withheld: ReadonlySet<string> };

export type DataPolicy = { recordData: Revision['recordData'] | undefined; sensitive: ReadonlySet<string> };

/** Undefined for a step of which nothing is shown. */
export function planSent(step: RevisionStep, { recordData, sensitive }: DataPolicy): SentPlan | undefined {
  if (!['agent', 'skill', 'workflow'].includes(step.kind) || hasNoEffect(step)) return undefined;
  if (recordData === 'None' || sensitive.has(step.id)) return undefined;
  const named = Object.entries(shownOf(step, templatesOf(step))).map(
    ([name, value]) => [name, referencesOf(compileValue(value))] as const,
  );
  if (named.every(([, references]) => references.length === 0)) return undefined;
  const withheld = named.filter(([, references]) => references.some((one) => mayBeSensitive(one, sensitive)));
  return { withheld: new Set(withheld.map(([name]) => name)) };
}

/**
 * Whether the value of the reference may come from a sensitive node. Items, and the node before, can come
 * from any node.
 */
export function mayBeSensitive(reference: Reference, sensitive: ReadonlySet<string>): boolean {
  if (sensitive.size === 0) return false;
  if (reference.source === 'previous' || reference.source === 'item') return true;
  if (reference.source !== 'node') return false;
  return sensitive.has(reference.node) || reference.member === 'item';
}

/** The members that are shown, by name. */
export function shownOf(step: RevisionStep, fields: StepFields): Record<string, unknown> {
  return step.kind === 'skill' ? (fields['parameters'] as Record<string, unknown>) : fields;
}
