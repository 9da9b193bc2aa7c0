/**
 * The ACL users of operator and gateway in the chart's own Redis. When its pod starts, it creates them with
 * the rules of the installed chart, which may be older than the image; the leading operator then sets the
 * rules of its own version, so that an upgrade needs no restart of Redis and survives one.
 */
import { createHash } from 'node:crypto';
import type { ObjectRef } from '../../kube/resource.ts';
import { ensureAclUsers } from '../../store/accounts.ts';
import { createSignal } from '../../store/signal.ts';
import type { OperatorContext } from '../shared/context.ts';
import type { StoreChanges } from './changes.ts';
import { readStorePasswords } from './secret.ts';

/** After a failure. */
const AGAIN_MS = 2_000;
const LONGEST_WAIT_MS = 60_000;

type Context = Pick<OperatorContext, 'client' | 'config' | 'conn' | 'log'> & {
  storeChanges: Pick<StoreChanges, 'identified'>;
};

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/**
 * Sets the ACL users, and again after each start of Redis, as soon as the server is identified, until the
 * signal is aborted. ACL users of an existing Redis are its administrator's.
 */
export async function maintainAclUsers(
  context: Context,
  namespace: string,
  signal: AbortSignal,
): Promise<void> {
  const { config, log, storeChanges } = context;
  if (!config.REDIS_SECRET_CREATE) return;
  const ref = { namespace, name: config.REDIS_SECRET };
  const hint = createSignal();
  let server: string | undefined;
  let done: string | undefined;
  storeChanges.identified.onChange((identity) => {
    server = identity;
    hint.raise();
  });
  signal.addEventListener('abort', hint.raise, { once: true });
  while (!signal.aborted) {
    // If Redis restarts after that, it is identified again, and they are set again.
    const identity = server;
    try {
      if (identity !== done && (await trySet(context, ref))) done = identity;
    } catch (error) {
      log.warn({ err: error }, 'updating the run store accounts failed');
    }
    if (!signal.aborted) await hint.wait(identity === done ? LONGEST_WAIT_MS : AGAIN_MS);
  }
}

/** False while the run store cannot be reached. */
async function trySet({ client, conn, log }: Context, ref: ObjectRef): Promise<boolean> {
  const { operator, gateway } = await readStorePasswords(client, ref);
  const set = await ensureAclUsers(conn, {
    operatorSha256: sha256(operator),
    gatewaySha256: sha256(gateway),
  });
  if (set.outcome === 'unavailable') return false;
  if (set.changed) log.info({}, 'updated the run store accounts');
  return true;
}
