/** How Microsoft Graph refuses: https://learn.microsoft.com/graph/errors. */
import type { Refusal } from './httpProxy.ts';

const CODE: Readonly<Record<number, string>> = {
  401: 'InvalidAuthenticationToken',
  403: 'accessDenied',
  404: 'itemNotFound',
  410: 'resyncRequired',
  429: 'activityLimitReached',
  503: 'serviceNotAvailable',
};

export const graphRefusal: Refusal = (status) => ({
  type: 'application/json',
  body: JSON.stringify({ error: { code: CODE[status], message: `refused with ${status}` } }),
});
