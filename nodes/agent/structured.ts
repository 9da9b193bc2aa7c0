/** Answers that must fit a JSON Schema: checks the schema, and finds the value in the text of an answer. */
import * as z from 'zod';
// Through `z` it would bring the messages of all languages into a bundle.
import { toDotPath } from 'zod/v4/core';
import { rounded } from '../../api/exact/exactNumber.ts';
import { parseJson } from '../../api/json.ts';
import { StepError } from '../../api/reasons.ts';

/** Characters of what does not fit. */
const LONGEST_PROBLEM = 500;

type JsonSchema = Record<string, unknown>;

/** Why the schema cannot be used; undefined when it can. For the check of a workflow before it runs. */
export function outputSchemaProblem(schema: JsonSchema): string | undefined {
  try {
    z.fromJSONSchema(schema);
    return undefined;
  } catch (error) {
    return `outputSchema cannot be used: ${error instanceof Error ? error.message : 'it is not a JSON Schema'}`;
  }
}

/**
 * The value that the text holds: the whole text, what stands between fences, or what stands between the
 * outermost brackets, since models like to explain themselves.
 * @throws StepError `InvalidAnswer` that names what does not fit, in bounds: not the text, but maybe names of
 * members in it; `InvalidParameters` for the schema
 */
export function structuredAnswer(text: string, schema: JsonSchema): unknown {
  const problem = outputSchemaProblem(schema);
  if (problem) throw new StepError('InvalidParameters', problem);
  const found = candidates(text)
    .map((candidate) => parseJson(candidate))
    .find((result) => result.ok);
  if (!found?.ok)
    throw new StepError('InvalidAnswer', 'the answer holds no JSON, but outputSchema asks for it');
  const fit = z.fromJSONSchema(schema).safeParse(rounded(found.value));
  if (fit.success) return found.value;
  const [issue] = fit.error.issues;
  const place = issue ? toDotPath(issue.path) : '';
  const misfit = `${place || 'it'}: ${issue?.message}`.slice(0, LONGEST_PROBLEM).toWellFormed();
  throw new StepError('InvalidAnswer', `the answer does not fit outputSchema: ${misfit}`);
}

function candidates(text: string): string[] {
  // Of the space behind the fence no line break: each could be the one that ends the line, and all would be
  // tried.
  const fenced = /```(?:json)?[^\S\n]*\n([\s\S]*?)```/i.exec(text)?.[1];
  const start = text.search(/[[{]/);
  const end = Math.max(text.lastIndexOf('}'), text.lastIndexOf(']'));
  const bracketed = start === -1 || end < start ? undefined : text.slice(start, end + 1);
  return [text.trim(), fenced?.trim(), bracketed].filter(
    (candidate) => candidate !== undefined && candidate !== '',
  ) as string[];
}
