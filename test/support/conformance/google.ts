/**
 * How Google's APIs refuse: https://developers.google.com/workspace/drive/api/guides/handle-errors and
 * https://google.aip.dev/193.
 */
import type { Refusal } from './httpProxy.ts';

const REASON: Readonly<Record<number, string>> = {
  401: 'authError',
  403: 'forbidden',
  404: 'notFound',
  410: 'gone',
  429: 'rateLimitExceeded',
  503: 'backendError',
};

export const googleRefusal: Refusal = (code) => {
  const message = `refused with ${code}`;
  const errors = [{ domain: 'global', reason: REASON[code], message }];
  return { type: 'application/json', body: JSON.stringify({ error: { code, message, errors } }) };
};
