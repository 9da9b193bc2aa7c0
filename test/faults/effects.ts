/**
 * What reached systems outside: one entry for each mail, model call, HTTP call and counted step that the
 * sinks have seen.
 */
import { createHash } from 'node:crypto';
import type { ReceivedCall } from '../support/providers/http/httpSink.ts';
import type { ReceivedMail } from '../support/providers/mail/mailServer.ts';
import type { ModelRequest } from '../support/providers/model/modelRequest.ts';

/**
 * `key` is what lets a receiver tell a repetition: `Message-ID` or `Idempotency-Key`. `at` is when the sink
 * had it, by the wall clock. `run` and `node` are those of the key; left out where it names none.
 */
export type Effect = {
  kind: EffectKind;
  event: string;
  key: string;
  at: number;
  run?: string;
  node?: string;
};

/** `count` is a step that does nothing but to be counted: a call with `effect: AtMostOnce`. */
export type EffectKind = 'mail' | 'model' | 'http' | 'count';

/** Effects that are never repeated; the others may be, under the same key. */
export const AT_MOST_ONCE: readonly EffectKind[] = ['mail', 'count'];

/** The path of the HTTP sink for steps that are counted. */
export const COUNT_PATH = '/count';

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
    read<{ body: ModelRequest; idempotencyKey?: string; at: number }[]>(`${urls.model}/requests`),
    read<ReceivedCall[]>(`${urls.http}/calls`),
  ]);
  const models = requests.map(({ body, idempotencyKey: key = '', at }): Effect => {
    const event = eventIn(body.messages.map(({ content }) => content).join(' '));
    return { kind: 'model', event, key, at, ...partsOf(key) };
  });
  const byMessage = messagesOf(models);
  return [
    ...models,
    ...mails.map(({ subject, messageId: key, at }): Effect => {
      const parts = byMessage.get(key.replace(/^<|@.*$/g, ''));
      return { kind: 'mail', event: eventIn(subject), key, at, ...parts };
    }),
    ...calls.map(({ path, body, idempotencyKey: key = '', at }): Effect => {
      const kind = path.startsWith(COUNT_PATH) ? 'count' : 'http';
      return { kind, event: eventIn(body), key, at, ...partsOf(key) };
    }),
  ];
}

type Parts = Pick<Effect, 'run' | 'node'>;

/** `<project>/<run>/<node>/<attempt>`. */
function partsOf(key: string): Parts {
  const [, run, node, attempt] = key.split('/');
  return run === undefined || node === undefined || attempt === undefined ? {} : { run, node };
}

const MAIL_NODE = 'mail';
const MAIL_ATTEMPTS = 3;

/**
 * A Message-ID is a hash of the key. The run of each mail has asked the model before, so its keys are known.
 */
function messagesOf(models: readonly Effect[]): ReadonlyMap<string, Parts> {
  const found = new Map<string, Parts>();
  for (const { key, run } of models) {
    if (run === undefined) continue;
    for (let attempt = 1; attempt <= MAIL_ATTEMPTS; attempt += 1) {
      const mailKey = `${key.split('/')[0]}/${run}/${MAIL_NODE}/${attempt}`;
      const hash = createHash('sha256').update(mailKey).digest('hex').slice(0, 40);
      found.set(hash, { run, node: MAIL_NODE });
    }
  }
  return found;
}

async function read<T>(url: string): Promise<T> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  return (await response.json()) as T;
}
