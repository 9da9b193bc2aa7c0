/** The error of a field: what the checks say, that it is missing, or that its text has a wrong form. Pure. */
import { durationProblem } from '../../api/duration.ts';
import type { Editor, Field } from './fields.ts';
import { requiredText } from './labels.ts';
import { numberProblem } from './numberProblem.ts';
import { patternProblem } from './patternProblem.ts';
import { holdsReference, isNothing, problemsAt, type FieldProblem } from './values.ts';

type Known = { path: string; problems: readonly FieldProblem[]; isAsked: boolean };

const NESTED: Editor['kind'][] = ['object', 'oneOf', 'map', 'shapes'];

/** What is wrong with the value of a field; undefined: nothing, or the user has not been asked for it yet. */
export function fieldProblem(
  { editor, isRequired, label }: Field,
  value: unknown,
  { path, problems, isAsked }: Known,
): string | undefined {
  if (!isAsked) return undefined;
  const isNested = NESTED.includes(editor.kind);
  const isLeaf = !isNested && !(editor.kind === 'list' && Array.isArray(value));
  // The field of a credential shows the state of the account itself.
  const others = problems.filter(({ credential }) => credential === undefined);
  const told = editor.kind === 'tools' ? toolProblems(others, path) : problemsAt(others, path, isLeaf);
  const beyond =
    editor.kind === 'number' && typeof value === 'number' ? numberProblem(editor, value) : undefined;
  if (beyond !== undefined) return beyond;
  if (told.length > 0) return told.join(' ');
  if (isRequired && isNothing(value) && !isNested) return requiredText(label);
  return typeof value === 'string' && value !== '' && !holdsReference(value)
    ? formatProblem(editor, value)
    : undefined;
}

/** The problems of the tools as such: their fields tell their own. */
function toolProblems(problems: readonly FieldProblem[], path: string): string[] {
  const isOfTool = (field: string) => field.startsWith(path) && /^\[\d+\]$/.test(field.slice(path.length));
  return problemsAt(
    problems.map((problem) => (isOfTool(problem.field) ? { ...problem, field: path } : problem)),
    path,
    false,
  );
}

/** The validation error of a text. */
function formatProblem(editor: Editor, text: string): string | undefined {
  if (editor.kind === 'duration') {
    const { least, most } = editor.bounds;
    return durationProblem(text, editor.bounds) === undefined
      ? undefined
      : `Enter a duration from ${least} to ${most}: a number and a unit, such as 30s or 5m.`;
  }
  return editor.kind === 'text' ? patternProblem(editor.pattern, text) : undefined;
}
