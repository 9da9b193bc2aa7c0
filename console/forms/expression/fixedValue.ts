/** The fixed value that replaces an expression when a user turns the expression of a field off. Pure. */
import { evaluate } from '../../../api/expression/evaluate.ts';
import { compileValue } from '../../../api/expression/template.ts';
import { scopeOf } from './preview.ts';
import type { Editor } from '../fields.ts';
import type { Sources } from '../source.ts';

/**
 * The value of the expression with the last outputs, if the input of the field can show it. Only of settings:
 * texts and structures of a run are data, which do not belong into a workflow.
 */
export function fixedValue(editor: Editor, expression: string, sources: Sources): unknown {
  try {
    const value = evaluate(compileValue(expression), scopeOf(sources));
    return fits(editor, value) ? value : undefined;
  } catch {
    // The expression is invalid, or has no value yet.
    return undefined;
  }
}

function fits(editor: Editor, value: unknown): boolean {
  if (editor.kind === 'number')
    return typeof value === 'number' && (!editor.isWhole || Number.isInteger(value));
  if (editor.kind === 'boolean') return typeof value === 'boolean';
  if (editor.kind === 'choice') return typeof value === 'string' && editor.options.includes(value);
  return editor.kind === 'model' && typeof value === 'string';
}
