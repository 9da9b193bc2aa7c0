/** Previews of CEL expressions with the outputs of the last run. Import it lazily: the compiler is large. */
import { testsNode } from '../../../api/disabled.ts';
import {
  compileCondition,
  compileValueExpression,
  evaluateValue,
  valueReferences,
  type ValueExpression,
} from '../../../api/cel.ts';
import { printReference, type Reference } from '../../../api/expression/reference.ts';
import { celOf } from './cel.ts';
import {
  absentMember,
  disabledNode,
  unavailableNode,
  problemOf,
  scopeOf,
  valueOf,
  type Preview,
} from './preview.ts';
import type { Sources } from '../source.ts';

/** The preview of an expression. A condition must evaluate to a boolean. */
export function previewCel(source: string, sources: Sources, isCondition: boolean): Preview {
  try {
    const compile = isCondition ? compileCondition : compileValueExpression;
    const expression = compile(source, { forEach: sources.element !== undefined });
    const known = sources.nodes.map(({ id }) => id);
    const stranger = expression.references.find((id) => !known.includes(id));
    if (stranger !== undefined) return { kind: 'wrong', message: unavailableNode(stranger, sources) };
    const disabled = expression.references.find(
      (id) => sources.nodes.some((each) => each.id === id && each.isDisabled) && !testsNode(source, id),
    );
    if (disabled !== undefined)
      return { kind: 'wrong', message: disabledNode(disabled, `ask with has(nodes.${disabled}) first`) };
    const absent = absentIn(expression, sources);
    if (absent !== undefined) return { kind: 'wrong', message: absent };
    const { previous, run, variables } = expression.names;
    const unknown = [
      ...expression.references.filter((id) => !sources.nodes.some((each) => each.id === id && each.isReal)),
      ...(previous && sources.previous?.isReal !== true ? ['previous'] : []),
      ...(run ? ['run'] : []),
      ...variables.map((name) => `vars.${name}`),
    ];
    if (unknown.length > 0) return { kind: 'unknown', nodes: unknown };
    return valueOf(evaluateValue(expression, scopeOf(sources)));
  } catch (error) {
    return inGroup(problemOf(error), sources);
  }
}

/** Conditions and values can ask with has() whether there is an error. */
function absentIn(expression: ValueExpression, sources: Sources): string | undefined {
  const inCel = (reference: Reference) => celOf(printReference(reference));
  return valueReferences(expression)
    .filter((reference) => !('member' in reference && reference.member === 'error'))
    .map((reference) => absentMember(reference, sources, inCel))
    .find((problem) => problem !== undefined);
}

/** Of a condition in the body of a loop: the message names the loop. */
function inGroup(preview: Preview, { nodes }: Sources): Preview {
  const loop = nodes.findLast(({ members }) => members.includes('item'));
  if (preview.kind !== 'wrong' || loop === undefined) return preview;
  return { ...preview, message: preview.message.replaceAll('<ID of the group>', loop.id) };
}
