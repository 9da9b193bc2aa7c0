/** Problems that the API server reported for a workflow, with their lines in the text. */
import type { ApiFailure } from '../http/failure.ts';

export type TextProblem = { line?: number; field?: string; message: string };

/** One problem per cause. Without causes, the message of the server with the field that it contains. */
export function problemsOf(
  { causes, title, detail }: Pick<ApiFailure, 'causes' | 'title' | 'detail'>,
  lineOf: (field: string) => number | undefined,
): TextProblem[] {
  const at = (field: string, message: string): TextProblem => {
    const line = lineOf(field);
    return { ...(line !== undefined && { line }), ...(field !== '' && { field }), message };
  };
  if (causes.length > 0) return causes.map(({ field, message }) => at(field, message));
  const unknown = [...detail.matchAll(/unknown field "([^"]+)"/g)].map(([, field = '']) => field);
  if (unknown.length > 0) return unknown.map((field) => at(field, 'Unknown field.'));
  return [{ message: detail === '' ? title : `${title}. ${detail}` }];
}
