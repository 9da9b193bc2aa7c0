/** Waits until a page has loaded what it shows. */
import type { Page, Request } from 'playwright-core';
import { pollUntil } from '../support/time/poll.ts';

/** Streams, which last as long as the page shows what they are about. */
const STREAMS = /\/console\/live$|\/events(?:\?|$)/;

/** What stands in for content until it is there; the last one is a field before its code editor. */
const SUBSTITUTES = [
  '.mantine-Skeleton-root',
  '[aria-busy="true"]',
  '[aria-label^="Loading"]',
  '[placeholder^="Loading"]',
  '[data-lines] > textarea',
];

/** A substitute that is visible, or a text that says so; empty: none. */
const LOADING = `(() => {
  const all = [...document.querySelectorAll(${JSON.stringify(SUBSTITUTES.join())})];
  const shown = all.find((each) => each.checkVisibility({ visibilityProperty: true }));
  return shown?.outerHTML.slice(0, 120) ?? /^Loading\\b.*…$/m.exec(document.body.innerText)?.[0] ?? '';
})()`;

/** What arrived is drawn, and what that asks for is requested. */
const DRAWN = 'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))';

/** Follows the requests of the page; the function that it returns resolves once the page is settled. */
export function settling(page: Page): (timeoutMs: number) => Promise<void> {
  const pending = new Set<Request>();
  page.on('request', (request) => {
    if (request.isNavigationRequest()) pending.clear();
    if (!STREAMS.test(request.url())) pending.add(request);
  });
  page.on('requestfinished', (request) => pending.delete(request));
  page.on('requestfailed', (request) => pending.delete(request));
  const missing = async (): Promise<string> => {
    await page.evaluate(DRAWN);
    const [request] = pending;
    return request?.url() ?? page.evaluate<string>(LOADING);
  };
  return async (timeoutMs) => {
    let last = '';
    const isSettled = async (): Promise<boolean> => {
      last = await missing();
      return last === '';
    };
    await pollUntil('loading', isSettled, { timeoutMs }).catch(() => {
      throw new Error(`still loading: ${last}`);
    });
  };
}
