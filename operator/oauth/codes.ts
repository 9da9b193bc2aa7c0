/**
 * Publishes the key to which the gateway seals OAuth codes, and exchanges the codes. The private key exists
 * only in memory while this operator leads: a code is valid for a minute, and without a leader the gateway
 * asks the browser to try again.
 */
import * as z from 'zod';
import { nextBeat } from '../../kube/beat.ts';
import { sleep, type Clock } from '../../kube/clock.ts';
import { WaitingError } from '../../kube/controller.ts';
import type { Log } from '../../kube/log.ts';
import { isUnavailable, type RunStoreConnection } from '../../store/connection.ts';
import { createSealingKeys } from '../../store/oauth/seal.ts';
import { publishKey, SEALED_FOR, takeCodes, watchCodes, type Code } from '../../store/oauth/states.ts';
import { createSignal } from '../../store/signal.ts';
import type { Connections } from './connections.ts';

/** Between two publications of the key. Then codes are taken as well, whose message was lost. */
const PUBLISH_MS = 5_000;
/** A code that is not exchanged within this time has expired. */
const PATIENCE_MS = 60_000;
const AGAIN_MS = 1_000;

export type CodesOptions = {
  conn: RunStoreConnection;
  connections: Pick<Connections, 'exchange'>;
  log: Log;
  clock: Clock;
};

/** Exchanges codes until the signal is aborted. */
export async function exchangeCodes(options: CodesOptions, signal: AbortSignal): Promise<void> {
  const { clock, conn, log } = options;
  const keys = await createSealingKeys();
  const underWay = new Set<Promise<void>>();
  const brought = createSignal();
  const messages = watchCodes(conn, brought.raise);
  signal.addEventListener('abort', brought.raise, { once: true });
  while (!signal.aborted) {
    // Both in one write to the run store.
    const [published, codes] = await Promise.all([publishKey(conn, keys.publicKey), takeCodes(conn)]);
    for (const sealed of isUnavailable(codes) ? [] : codes) {
      const code = parseCode(await keys.open(sealed, SEALED_FOR));
      if (code === undefined) {
        // It may be sealed for an earlier leader: the person has to connect again.
        log.warn({}, 'invalid OAuth code');
        continue;
      }
      const exchanged = exchangeWithRetries(options, code, signal);
      underWay.add(exchanged);
      void exchanged.finally(() => underWay.delete(exchanged));
    }
    const everyMs = isUnavailable(published) ? AGAIN_MS : PUBLISH_MS;
    if (!signal.aborted) await brought.wait(nextBeat(clock.now(), everyMs) - clock.now());
  }
  messages.end();
  await Promise.all(underWay);
}

/** Errors are thrown before the provider is called, so that the code stays valid. Never rejects. */
async function exchangeWithRetries(
  { connections, log, clock }: CodesOptions,
  code: Code,
  signal: AbortSignal,
): Promise<void> {
  const until = clock.now() + PATIENCE_MS;
  let last: unknown;
  while (!signal.aborted && clock.now() < until) {
    try {
      return await connections.exchange(code);
    } catch (error) {
      last = error;
      await sleep(error instanceof WaitingError ? error.ms : AGAIN_MS, signal, clock);
    }
  }
  const { namespace, name } = code;
  log.error({ namespace, credential: name, err: last }, 'cannot exchange an OAuth code');
}

const text = z.string();
const form = z.object({
  namespace: text,
  name: text,
  uid: text,
  generation: z.number(),
  user: text,
  connection: text,
  redirectURI: text,
  scopes: z.array(text),
  code: text,
  verifier: text,
  state: text,
  answeredBy: text.optional(),
});

/** Validates the content: any program with the gateway's run store account can seal one. */
function parseCode(sealed: string | undefined): Code | undefined {
  try {
    const found: unknown = JSON.parse(sealed ?? '');
    return form.safeParse(found).success ? (found as Code) : undefined;
  } catch {
    return undefined;
  }
}
