/** The calls of a gateway that is asked for what it refuses, each with a canary in it. */
import { PROJECT, type CanaryHarness } from './canaryHarness.ts';
import { sent } from './canaryTexts.ts';
import type { Ask } from '../gateway/rawCalls.ts';

/** What is asked, and of which listener. */
type Call = { url: string; request: Ask };

/** A call of a webhook of the project, with an empty event unless another is given. */
export const callOfHook = (
  { gateway }: CanaryHarness,
  workflow: string,
  request: Omit<Ask, 'path'> = {},
): Call => ({
  url: gateway.publicURL,
  request: { method: 'POST', body: '{}', path: `/webhook/${PROJECT}.${workflow}/hook`, ...request },
});

/** A call, by what is wrong with it. */
export function refusedCalls(harness: CanaryHarness): Record<string, Call> {
  const { internalURL, publicURL } = harness.gateway;
  const hook = (workflow: string, request: Omit<Ask, 'path'>) => callOfHook(harness, workflow, request);
  const inside = (request: Ask): Call => ({
    url: internalURL,
    request: { token: harness.caller, ...request },
  });
  const execute = { method: 'POST', path: `/workflows/${PROJECT}.last/execute`, body: '{}' };
  const authorization = `Bearer ${sent.authorization.text}`;
  const basic = `Basic ${btoa(`ada:${sent.authorization.text}`)}`;
  return {
    'a token that nobody knows': inside({ ...execute, token: sent.token.text }),
    "another project's workflow": inside({ ...execute, path: '/workflows/other.last/execute' }),
    'a wrong bearer token': hook('hook-bearer', { headers: { authorization } }),
    'a wrong password': hook('hook-basic', { headers: { authorization: basic } }),
    'a secret with a line break': hook('hook-bad', { headers: { authorization } }),
    "a wrong signature of GitHub's": hook('github', {
      headers: { 'x-hub-signature-256': `sha256=${sent.signature.text}` },
    }),
    'a wrong signature': hook('hmac', { headers: { 'x-signature': sent.signature.text } }),
    'a key that is too long': hook('open', { headers: { 'idempotency-key': sent.longKey.text } }),
    'a body that is no JSON': hook('open', { body: sent.notJson.text }),
    'a body that is too deep': hook('open', { body: `${sent.tooDeep.text}${']'.repeat(80)}` }),
    'a body that is too large': hook('open', { body: JSON.stringify(sent.tooLarge.text.repeat(80_000)) }),
    'a body of another type': hook('open', {
      body: sent.form.text,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    }),
    'a webhook that is not there': {
      url: publicURL,
      request: { method: 'POST', path: `/webhook/${sent.path.text}/hook`, body: '{}' },
    },
    'a workflow that is not there': inside({ path: `/workflows/${PROJECT}.${sent.path.text}/runs` }),
    'an address that is not there': {
      url: internalURL,
      request: { path: `/${sent.path.text}?a=${sent.search.text}` },
    },
    'a query that is not known': inside({ ...execute, path: `${execute.path}?test=${sent.search.text}` }),
  };
}
