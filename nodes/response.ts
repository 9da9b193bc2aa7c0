/**
 * Response node: validates the response and builds the reply. Guarantees that no header injects another one
 * or changes the framing of the message (RFC 9110 sections 5.5 and 7.6.1).
 */
import { toText } from '../api/expression/evaluate.ts';
import { StepError } from '../api/reasons.ts';
import type { ResponseStep } from '../api/step.ts';
import { isHeaderName, isHeaderValue, isWithheldHeader } from '../api/headers.ts';
import type { StepReply, StepResult } from './contract/node.ts';

/** The fields of a response step with every reference replaced: values may be of any type. */
export type ResponseFields = {
  status?: number;
  headers?: Record<string, unknown>;
  body?: unknown;
  contentType?: string;
};

/** Statuses whose message never has a body (RFC 9110 sections 15.3.5, 15.3.6 and 15.4.5). */
const WITHOUT_BODY = new Set([204, 205, 304]);

/**
 * The reply, and the output of the node.
 * @throws StepError `InvalidParameters` that names the header, never its value
 */
export function executeResponse(fields: ResponseFields): StepResult {
  const { status = 200, body } = fields;
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(fields.headers ?? {})) {
    headers[checkedName(name)] = checkedValue(name, toText(value));
  }
  const { 'content-type': fromHeaders, ...rest } = headers;
  const contentType = checkedValue('contentType', fields.contentType ?? fromHeaders ?? defaultType(body));
  const reply: StepReply = { status, headers: rest, body: bodyText(status, body), contentType };
  return {
    output: { text_content: `Answered with status ${status}.`, data_content: { status, body: body ?? null } },
    reply,
  };
}

/**
 * What can never be sent of what a response says, whatever its references give: sentences that name the
 * header.
 */
export function responseProblems({ headers = {}, contentType }: ResponseStep): string[] {
  const names = Object.keys(headers).map((name) => () => checkedName(name));
  const values = Object.entries({ ...headers, ...(contentType !== undefined && { contentType }) })
    // What a reference gives is known when the step is executed.
    .filter(([, value]) => !value.includes('{{'))
    .map(
      ([name, value]) =>
        () =>
          checkedValue(name, value),
    );
  return [...names, ...values].flatMap(problemOf);
}

function problemOf(check: () => string): string[] {
  try {
    check();
    return [];
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    return [error.message];
  }
}

function checkedName(name: string): string {
  const lower = name.toLowerCase();
  if (!isHeaderName(name)) {
    throw new StepError(
      'InvalidParameters',
      'a name in headers is not a valid HTTP header name: use letters, digits and -',
    );
  }
  if (isWithheldHeader(lower)) {
    throw new StepError(
      'InvalidParameters',
      `the header ${name} cannot be set by a response, since it acts beyond this one answer: remove it`,
    );
  }
  return lower;
}

function checkedValue(name: string, value: string): string {
  if (isHeaderValue(value)) return value;
  throw new StepError(
    'InvalidParameters',
    `the value of ${name} holds a line break or another character that HTTP headers cannot hold`,
  );
}

function defaultType(body: unknown): string {
  return typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8';
}

function bodyText(status: number, body: unknown): string {
  return body === undefined || WITHOUT_BODY.has(status) ? '' : toText(body);
}
