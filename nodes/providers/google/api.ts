/** Calls of Google's APIs, and what their errors mean (https://google.aip.dev/193). */
import * as z from 'zod';
import { statusFailure } from '../../http/client.ts';
import type { FailureKind } from '../../contract/failure.ts';
import { callAccount, type Account, type AccountCall, type JsonAnswer } from '../../http/json.ts';
import { echoesOf, type Secret } from '../../contract/secret.ts';

/**
 * The answer to a call; undefined for one of the `absent` statuses.
 * @throws Failure, StepError
 */
export function callGoogle<T>(account: Account, call: AccountCall<T>): Promise<T | undefined> {
  return callAccount(account, call, (answer, { token }, right) => googleFailure(answer, token, right));
}

/**
 * Newer APIs have `status` and `details`, older ones `errors`
 * (https://developers.google.com/workspace/gmail/api/guides/handle-errors).
 */
const errorSchema = z.object({
  error: z.object({
    message: z.string().optional(),
    status: z.string().optional(),
    errors: z.array(z.object({ reason: z.string().optional() })).optional(),
    details: z.array(z.object({ reason: z.string().optional() })).optional(),
  }),
});

const LIMITED = /rateLimitExceeded|quotaExceeded|dailyLimitExceeded|RESOURCE_EXHAUSTED|RATE_LIMIT_EXCEEDED/i;
const UNSCOPED = /insufficientPermissions|insufficientScopes|ACCESS_TOKEN_SCOPE_INSUFFICIENT/;
const REJECTED = /authError|accessNotConfigured|appNotAuthorized|domainPolicy/;

/**
 * The failure of an answer that is not a success. `right`: what the call needs a scope for, such as "read
 * mail".
 */
export function googleFailure(answer: JsonAnswer, token: Secret, right: string) {
  const parsed = errorSchema.safeParse(answer.json);
  const { message, status, errors = [], details = [] } = parsed.success ? parsed.data.error : {};
  const reasons = [status, ...[...errors, ...details].map(({ reason }) => reason)].join(' ');
  const [kind, problem] = judge(answer, reasons, right);
  return statusFailure(answer, kind, problem, { text: message, secrets: echoesOf(token) });
}

function judge({ status, host }: JsonAnswer, reasons: string, right: string): [FailureKind, string] {
  if (status === 429 || (status === 403 && LIMITED.test(reasons)))
    return ['RateLimited', `${host} limits the rate of requests`];
  if (status === 403 && UNSCOPED.test(reasons))
    return ['MissingScope', `the account did not grant access to ${right}: connect the credential again`];
  if (status === 401 || REJECTED.test(reasons)) return ['Rejected', `${host} refused the access token`];
  if (status === 403) return ['Forbidden', `the account may not ${right}`];
  if (status === 404) return ['Missing', `${host} has no such file or folder, or the account may not see it`];
  if (status >= 500) return ['UpstreamError', `${host} failed`];
  return ['Unexpected', `${host} refused the request with status ${status}`];
}
