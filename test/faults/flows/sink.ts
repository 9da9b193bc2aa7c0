/**
 * Receives the calls of the flows. `/flaky` answers 500 until the event is mended; every other path repeats
 * the event as `said`.
 */
import { listen, readBody, sendJson } from '../../support/network/listen.ts';
import type { FlowEffect } from './checker.ts';

export type FlowSink = {
  url: string;
  calls: FlowEffect[];
  /** From now on `/flaky` succeeds for the event. */
  mend(event: string): void;
  close(): Promise<void>;
};

export async function startFlowSink(): Promise<FlowSink> {
  const calls: FlowEffect[] = [];
  const mended = new Set<string>();
  const listening = await listen(async (request, response) => {
    const body = JSON.parse(await readBody(request)) as Record<string, unknown>;
    const event = String(body['event']);
    const key = request.headers['idempotency-key'];
    const place = request.url ?? '';
    calls.push({ place, event, key: String(key), body });
    const isRefused = place === '/flaky' && !mended.has(event);
    sendJson(response, isRefused ? 500 : 200, { said: event });
  });
  const { url } = listening;
  return { url, calls, mend: (event) => void mended.add(event), close: () => listening.close() };
}
