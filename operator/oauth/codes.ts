/**
 * Says which key codes are to be sealed to, and takes the codes that browsers brought. The private key lives as long as this operator
 * leads and is stored nowhere: a code is good for a minute, and who brings one while nobody leads is told to come again.
 */
import * as z from 'zod';
import { sleep, type Clock } from '../../kube/clock.ts';
import { WaitingError } from '../../kube/controller.ts';
import type { Log } from '../../kube/log.ts';
import { isUnavailable, type RunStoreConnection } from '../../store/connection.ts';
import { createSealingKeys } from '../../store/oauth/seal.ts';
import { publishKey, SEALED_FOR, takeCodes, type Code } from '../../store/oauth/states.ts';
import type { Connections } from './connections.ts';

const LOOK_MS = 500;
const PUBLISH_MS = 5_000;
/** A code that does not get its turn within this time has ended. */
const PATIENCE_MS = 60_000;
const AGAIN_MS = 1_000;

export type CodesOptions = {
  conn: RunStoreConnection;
  connections: Pick<Connections, 'exchange'>;
  log: Log;
  clock: Clock;
};

/** Takes codes until the signal is aborted. */
export async function exchangeCodes(options: CodesOptions, signal: AbortSignal): Promise<void> {
  const { conn, log, clock } = options;
  const keys = await createSealingKeys();
  const underWay = new Set<Promise<void>>();
  let publishedAt = -Infinity;
  while (!signal.aborted) {
    if (clock.now() - publishedAt >= PUBLISH_MS) {
      const published = await publishKey(conn, keys.publicKey);
      if (!isUnavailable(published)) publishedAt = clock.now();
    }
    const codes = await takeCodes(conn);
    for (const sealed of isUnavailable(codes) ? [] : codes) {
      const code = opened(await keys.open(sealed, SEALED_FOR));
      if (code === undefined) {
        // Or a code that was sealed for another operator: the browser has to bring it again.
        log.warn({}, 'invalid OAuth code');
        continue;
      }
      const exchanged = exchangeInTurn(options, code, signal);
      underWay.add(exchanged);
      void exchanged.finally(() => underWay.delete(exchanged));
    }
    await sleep(LOOK_MS, signal, clock);
  }
  await Promise.all(underWay);
}

/** What is thrown was thrown before the provider was asked, so that the code is still good. Never rejects. */
async function exchangeInTurn(
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
  log.error({ namespace, credential: name, err: last }, 'a code could not be exchanged');
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

/** Whoever has the gateway's account in the run store can seal anything. */
function opened(sealed: string | undefined): Code | undefined {
  try {
    const found: unknown = JSON.parse(sealed ?? '');
    return form.safeParse(found).success ? (found as Code) : undefined;
  } catch {
    return undefined;
  }
}
