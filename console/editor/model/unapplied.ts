/**
 * Texts that their fields cannot apply to the draft, such as invalid JSON. The editor keeps them while it is
 * open, and shows them as problems. Pure.
 */
import type { WorkflowSpec } from '../../../api/workflow.ts';
import type { KeptText } from '../../forms/scope.ts';
import { currentProblems } from './current.ts';
import type { Found } from './problems.ts';

/** `found`: what is wrong, and where. `spec`: the draft in which it was typed. */
export type Unapplied = { found: Found & { place: { node: string } }; text: string; spec: WorkflowSpec };

type At = { node: string; field: string; spec: WorkflowSpec };

/** The texts with this one instead of the one before; undefined: without it. */
export function withText(
  texts: readonly Unapplied[],
  { node, field, spec }: At,
  kept: KeptText | undefined,
): readonly Unapplied[] {
  const others = texts.filter(
    ({ found: { place, problem } }) => place.node !== node || problem.field !== field,
  );
  if (kept === undefined) return others.length === texts.length ? texts : others;
  const { text, message } = kept;
  const found: Unapplied['found'] = { place: { node }, problem: { field, message, source: 'draft' } };
  return [...others, { found, text, spec }];
}

/** The texts of fields that are as they were: otherwise somebody gave the field another value since. */
export function currentTexts(texts: readonly Unapplied[], spec: WorkflowSpec): readonly Unapplied[] {
  return texts.filter(({ found, spec: before }) => {
    const skillIn = ({ nodes }: WorkflowSpec) => nodes.find(({ id }) => id === found.place.node)?.skill?.name;
    return skillIn(before) === skillIn(spec) && currentProblems([found], before, spec).length > 0;
  });
}

/** The text of a field. */
export function textAt(texts: readonly Unapplied[], { node, field, spec }: At): string | undefined {
  return currentTexts(texts, spec).find(
    ({ found: { place, problem } }) => place.node === node && problem.field === field,
  )?.text;
}
