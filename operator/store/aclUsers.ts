/**
 * The ACL users of operator and gateway in the chart's own Redis. When its pod starts, it creates them with
 * the rules of the installed chart, which may be older than the image; the leading operator then sets the
 * rules of its own version, so that an upgrade needs no restart of Redis and survives one.
 */
import { createHash } from 'node:crypto';
import { sleep } from '../../kube/clock.ts';
import type { ObjectRef } from '../../kube/resource.ts';
import { ensureAclUsers } from '../../store/accounts.ts';
import { isUnavailable } from '../../store/connection.ts';
import type { OperatorContext } from '../shared/context.ts';
import { serverIdentity } from '../../store/serverIdentity.ts';
import { readStorePasswords } from './secret.ts';

const EVERY_MS = 2_000;

type Context = Pick<OperatorContext, 'client' | 'config' | 'conn' | 'log' | 'clock'>;

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/**
 * Sets the ACL users, and again within seconds after each start of Redis, until the signal is aborted. ACL
 * users of an existing Redis are its administrator's.
 */
export async function maintainAclUsers(
  context: Context,
  namespace: string,
  signal: AbortSignal,
): Promise<void> {
  const { config, conn, log, clock } = context;
  if (!config.REDIS_SECRET_CREATE) return;
  const ref = { namespace, name: config.REDIS_SECRET };
  let done: string | undefined;
  while (!signal.aborted) {
    try {
      // Read before they are set: if Redis restarts in between, they are set again.
      const server = await serverIdentity(conn);
      if (!isUnavailable(server) && server !== done && (await trySet(context, ref))) done = server;
    } catch (error) {
      log.warn({ err: error }, 'updating the run store accounts failed');
    }
    await sleep(EVERY_MS, signal, clock);
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
