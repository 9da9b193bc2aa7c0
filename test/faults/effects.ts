/** What reached the outside world: one entry for each mail, model call and HTTP call that the sinks have seen, with its key. */
import type { ReceivedCall } from '../support/httpSink.ts';
import type { ReceivedMail } from '../support/mailServer.ts';
import type { ModelRequest } from '../support/modelAnswers.ts';

/** `key` is what lets a receiver tell a repetition: `Message-ID` or `Idempotency-Key`. */
export type Effect = { kind: EffectKind; event: string; key: string };

export type EffectKind = 'mail' | 'model' | 'http';

/** Effects that are never repeated; the others may be, under the same key. */
export const AT_MOST_ONCE: readonly EffectKind[] = ['mail'];

/** Where the sinks list what they have seen. */
export type SinkURLs = { mail: string; model: string; http: string };

/** The id of an event wherever it stands in a text: in a prompt, a subject, a body. */
export function eventIn(text: string): string {
  return /\bev-[a-z0-9]+-\d+\b/.exec(text)?.[0] ?? '';
}

/** All effects so far. */
export async function readEffects(urls: SinkURLs): Promise<Effect[]> {
  const [mails, requests, calls] = await Promise.all([
    read<ReceivedMail[]>(`${urls.mail}/messages`),
    read<{ body: ModelRequest; idempotencyKey?: string }[]>(`${urls.model}/requests`),
    read<ReceivedCall[]>(`${urls.http}/calls`),
  ]);
  return [
    ...mails.map(({ subject, messageId: key }) => ({ kind: 'mail' as const, event: eventIn(subject), key })),
    ...requests.map(({ body, idempotencyKey: key = '' }) => {
      const event = eventIn(body.messages.map(({ content }) => content).join(' '));
      return { kind: 'model' as const, event, key };
    }),
    ...calls.map(({ body, idempotencyKey: key = '' }) => ({
      kind: 'http' as const,
      event: eventIn(body),
      key,
    })),
  ];
}

async function read<T>(url: string): Promise<T> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  return (await response.json()) as T;
}
