/**
 * Unapplied texts, such as invalid JSON in a field. The editor keeps them, also when it is opened again in
 * the same tab, and shows them as problems. Pure.
 */
import { isRecord } from '../../../api/record.ts';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import type { UnappliedText } from '../../forms/scope.ts';
import { isEqual } from '../../kube/patch.ts';
import { currentProblems, valueAt } from './current.ts';
import type { Found } from './problems.ts';
import { isSameField, type FieldAt } from './sameField.ts';

/** `found`: what is wrong, and where. `spec`: the draft in which it was typed. */
export type Unapplied = { found: Found & { place: { node: string } }; text: string; spec: WorkflowSpec };

type At = FieldAt & { spec: WorkflowSpec };

/** The texts with this one instead of the one before; undefined: without it. */
export function withText(
  texts: readonly Unapplied[],
  { node, field, spec }: At,
  typed: UnappliedText | undefined,
): readonly Unapplied[] {
  const others = texts.filter(
    ({ found: { place, problem } }) => place.node !== node || problem.field !== field,
  );
  if (typed === undefined) return others.length === texts.length ? texts : others;
  const { text, message } = typed;
  const found: Unapplied['found'] = { place: { node }, problem: { field, message, source: 'draft' } };
  return [...others, { found, text, spec }];
}

/** The texts of fields that are as they were: otherwise somebody gave the field another value since. */
export function currentTexts(texts: readonly Unapplied[], spec: WorkflowSpec): readonly Unapplied[] {
  return texts.filter(({ found, spec: before }) => {
    const at = { node: found.place.node, field: found.problem.field };
    return currentProblems([found], before, spec).length > 0 && isSameField(at, before, spec);
  });
}

/** The text of a field. */
export function unappliedAt(texts: readonly Unapplied[], { node, field, spec }: At): string | undefined {
  return currentTexts(texts, spec).find(
    ({ found: { place, problem } }) => place.node === node && problem.field === field,
  )?.text;
}

/** The texts after the ID of a node was changed. Those of the ID before stay for whoever undoes that. */
export function withRenamed(
  texts: readonly Unapplied[],
  [id, next]: readonly [string, string],
  [before, after]: readonly [WorkflowSpec, WorkflowSpec],
): readonly Unapplied[] {
  const known = new Set(currentTexts(texts, after));
  // References in the value of a field are changed, too.
  const moved = currentTexts(texts, before).filter((text) => !known.has(text));
  return [
    ...texts,
    ...moved.map(({ found, text }): Unapplied => {
      const place = found.place.node === id ? { node: next } : found.place;
      return { found: { ...found, place }, text, spec: after };
    }),
  ];
}

/** What is stored of a text. `value` and `skill`: those of its field and node. */
type StoredText = {
  node: string;
  field: string;
  text: string;
  message: string;
  skill?: string;
  value?: unknown;
};

/** The texts to store; undefined: there are none. */
export function storedTexts(texts: readonly Unapplied[], spec: WorkflowSpec): StoredText[] | undefined {
  const stored = currentTexts(texts, spec).map(({ found: { place, problem }, text }): StoredText => {
    const { skill, value } = fieldAt(spec, place.node, problem.field);
    const { field, message } = problem;
    return { node: place.node, field, text, message, ...(skill !== undefined && { skill }), value };
  });
  return stored.length === 0 ? undefined : stored;
}

/** The stored texts of fields that are as they were. Anything else in `stored` is ignored. */
export function restoredTexts(stored: unknown, spec: WorkflowSpec): readonly Unapplied[] {
  return (Array.isArray(stored) ? stored : []).reduce((texts: readonly Unapplied[], each: unknown) => {
    const { node, field, text, message, skill, value } = isRecord(each) ? each : {};
    const isText = [node, field, text, message].every((part) => typeof part === 'string');
    if (!isText || !isEqual(fieldAt(spec, String(node), String(field)), { skill, value })) return texts;
    const at = { node: String(node), field: String(field), spec };
    return withText(texts, at, { text: String(text), message: String(message) });
  }, []);
}

function fieldAt(
  { nodes }: WorkflowSpec,
  id: string,
  field: string,
): { skill: string | undefined; value: unknown } {
  const node = nodes.find((other) => other.id === id);
  return { skill: node?.skill?.name, value: node && valueAt(node, field) };
}
