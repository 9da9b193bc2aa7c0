/**
 * Says which key codes are to be sealed to, and takes the codes that browsers brought. The private key lives as long as this operator
 * leads and is stored nowhere: a code is good for a minute, and who brings one while nobody leads is told to come again.
 */
import { sleep, type Clock } from '../../kube/clock.ts';
import { WaitingError } from '../../kube/controller.ts';
import type { Log } from '../../kube/log.ts';
import { isUnavailable, type RunStoreConnection } from '../../runs/connection.ts';
import { createSealingKeys } from '../../runs/connect/seal.ts';
import { publishKey, SEALED_FOR, takeCodes, type Code } from '../../runs/connect/store.ts';
import type { Connections } from './connections.ts';

const LOOK_MS = 500;
const PUBLISH_MS = 5_000;
/** A code that does not get its turn within this time has ended. */
const PATIENCE_MS = 60_000;

export type CodesOptions = {
  conn: RunStoreConnection;
  connections: Pick<Connections, 'exchange'>;
  log: Log;
  clock: Clock;
};

/** Takes codes until the signal is aborted. */
export async function keepCodes(options: CodesOptions, signal: AbortSignal): Promise<void> {
  const { conn, log, clock } = options;
  const keys = createSealingKeys();
  const underWay = new Set<Promise<void>>();
  let publishedAt = -Infinity;
  while (!signal.aborted) {
    if (clock.now() - publishedAt >= PUBLISH_MS) {
      const published = await publishKey(conn, keys.publicKey);
      if (!isUnavailable(published)) publishedAt = clock.now();
    }
    const codes = await takeCodes(conn);
    for (const sealed of isUnavailable(codes) ? [] : codes) {
      const code = opened(keys.open(sealed, SEALED_FOR));
      if (code === undefined) {
        log.warn({}, 'a code was sealed for another operator: it has to be brought again');
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

/** Never rejects. */
async function exchangeInTurn(
  { connections, log, clock }: CodesOptions,
  code: Code,
  signal: AbortSignal,
): Promise<void> {
  const until = clock.now() + PATIENCE_MS;
  while (!signal.aborted && clock.now() < until) {
    try {
      return await connections.exchange(code);
    } catch (error) {
      const { namespace, name } = code;
      if (!(error instanceof WaitingError))
        return log.error({ namespace, credential: name, err: error }, 'a code could not be exchanged');
      await sleep(error.ms, signal, clock);
    }
  }
}

/** Made by a gateway, so it has the form. */
function opened(text: string | undefined): Code | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as Code);
}
