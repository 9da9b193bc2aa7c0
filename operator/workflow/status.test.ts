import { expect, test } from 'vitest';
import type { Routing } from '../gateways/view.ts';
import { shownUrl } from './status.ts';

const URL = 'https://hooks.example.com/webhook/shop.orders/orders';
const served: Routing = { kind: 'Served', settling: false };

test.each<[sentence: string, url: string | undefined, routing?: Routing, before?: string, shown?: string]>([
  ['is served', URL, served, undefined, URL],
  ['is not served by each replica yet', URL, { kind: 'Lagging', replicas: ['a'], ms: 2_000 }, URL, undefined],
  ['was shown before the run store became unavailable', URL, undefined, URL, URL],
  ['was not shown yet when the run store became unavailable', URL, undefined, undefined, undefined],
  ['was closed while the run store is unavailable', undefined, undefined, URL, undefined],
])('the URL of a webhook that %s', (_sentence, url, routing, before, shown) => {
  expect(shownUrl(url, routing, before)).toBe(shown);
});
