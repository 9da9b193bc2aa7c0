/** Calls of Microsoft Graph, and what its errors mean (https://learn.microsoft.com/graph/errors). */
import * as z from 'zod';
import { statusFailure } from '../../http/client.ts';
import type { FailureKind } from '../../contract/failure.ts';
import { callAccount, type Account, type AccountCall, type JsonAnswer } from '../../http/json.ts';
import { echoesOf } from '../../contract/secret.ts';

/**
 * The answer to a call; undefined for one of the `absent` statuses.
 * @throws Failure, StepError
 */
export function callGraph<T>(account: Account, call: AccountCall<T>): Promise<T | undefined> {
  return callAccount(account, call, graphFailure);
}

/** Errors of workbooks have a closer code within: https://learn.microsoft.com/graph/workbook-error-codes */
const errorSchema = z.object({
  error: z.object({
    code: z.string().optional(),
    innerError: z.object({ code: z.string().optional() }).optional(),
    message: z.string().optional(),
  }),
});

/** Of ranges of cells: https://learn.microsoft.com/graph/workbook-error-handling */
const LARGE = /rangeExceedsLimit|(?:response|payload)\w*(?:LimitExceeded|TooLarge)/i;

function graphFailure(answer: JsonAnswer, { token }: Account, right: string) {
  const parsed = errorSchema.safeParse(answer.json);
  const { code, innerError, message } = parsed.success ? parsed.data.error : {};
  const closer = innerError?.code === undefined ? '' : ` (${innerError.code})`;
  const [kind, problem] = judge(answer, `${code} ${innerError?.code}`, right);
  return statusFailure(answer, kind, problem, {
    text: message === undefined ? undefined : message + closer,
    secrets: echoesOf(token),
  });
}

function judge({ status, host }: JsonAnswer, codes: string, right: string): [FailureKind, string] {
  if (status === 429) return ['RateLimited', `${host} limits the rate of requests`];
  if (LARGE.test(codes)) return ['TooLarge', `${host} refused to answer with so much`];
  if (status === 401) return ['Rejected', `${host} refused the access token`];
  if (status === 403) return ['Forbidden', `the account may not ${right}`];
  if (status >= 500) return ['UpstreamError', `${host} failed`];
  if (status === 409 || status === 423)
    return ['UpstreamError', `${host} cannot answer now: the file is locked`];
  return ['Unexpected', `${host} refused the request with status ${status}`];
}
