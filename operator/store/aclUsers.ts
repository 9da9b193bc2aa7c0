/**
 * The ACL users of operator and gateway in the chart's own Redis. Its pod makes them when it starts, with the rules of the version that was
 * installed then; an operator that leads gives them those of its own version, so that an upgrade needs no restart of Redis.
 */
import { createHash } from 'node:crypto';
import { sleep } from '../../kube/clock.ts';
import type { ObjectRef } from '../../kube/resource.ts';
import { ensureAclUsers } from '../../runs/accounts.ts';
import type { OperatorContext } from '../context.ts';
import { readStorePasswords } from './secret.ts';

const AGAIN_MS = 2_000;

type Context = Pick<OperatorContext, 'client' | 'config' | 'conn' | 'log' | 'clock'>;

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Sets the ACL users once, trying until it succeeds or the signal is aborted. Those of an existing Redis are its administrator's. */
export async function setAclUsers(context: Context, namespace: string, signal: AbortSignal): Promise<void> {
  const { config, log, clock } = context;
  if (!config.REDIS_SECRET_CREATE) return;
  while (!signal.aborted) {
    try {
      if (await trySet(context, { namespace, name: config.REDIS_SECRET })) return;
    } catch (error) {
      log.warn({ err: error }, 'updating the run store accounts failed');
    }
    await sleep(AGAIN_MS, signal, clock);
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
