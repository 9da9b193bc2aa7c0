/**
 * A person in a chat: sends a message, reads the streamed answer, and sends the message again when that
 * breaks off.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { newSession, sendMessage, streamedEvents } from '../../support/gateway/chatHarness.ts';
import type { ChatSeen } from './seen.ts';

export { newSession };

const RETRY_MS = 500;

/** Gives up in silence at `withinMs`: then there is no end. */
export async function converse(
  url: string,
  { session, id, text, withinMs }: { session: string; id: string; text: string; withinMs: number },
): Promise<ChatSeen> {
  const seen: ChatSeen = { id, text, streams: 0, refusals: [], shown: '', isPartial: false };
  const giveUp = AbortSignal.timeout(withinMs);
  while (!seen.end && !giveUp.aborted) {
    await followOnce(url, { session, id, message: text, signal: giveUp }, seen).catch(() => undefined);
    if (!seen.end) await delay(RETRY_MS);
  }
  return seen;
}

async function followOnce(
  url: string,
  message: Parameters<typeof sendMessage>[1],
  seen: ChatSeen,
): Promise<void> {
  const response = await sendMessage(url, message);
  if (response.status !== 200) {
    seen.refusals.push(response.status);
    await response.body?.cancel();
    return;
  }
  Object.assign(seen, { streams: seen.streams + 1, shown: '', isPartial: false });
  for await (const { event, data } of streamedEvents(response)) {
    if (event === 'text') seen.shown += String(data['text']);
    if (event === 'reset')
      Object.assign(seen, { shown: String(data['text']), isPartial: data['partial'] === true });
    if (event === 'done') seen.end = { done: String(data['text']) };
    if (event === 'error') seen.end = { error: String(data['type']) };
  }
}
