/**
 * Reads the keys of a webhook or bot from its Secrets, and reports missing or unusable ones. Values are never
 * logged.
 */
import type { Reason } from '../../api/conditions.ts';
import type { SecretKeyRef } from '../../api/value.ts';
import { usableKey, type KeyScheme } from '../../api/webhookAuth.ts';
import type { KubeClient } from '../../kube/client.ts';
import { secrets } from '../../kube/resource.ts';
import { checkKeys } from '../credential/check.ts';

export type KeyProblem = {
  reason: Extract<Reason, 'SecretMissing' | 'KeyMissing' | 'KeyUnusable'>;
  /** Names Secret and key. */
  message: string;
};

export type FoundKeys = { ok: true; keys: Uint8Array[] } | ({ ok: false } & KeyProblem);

/** The values of a Secret's keys. */
type Values = ReadonlyMap<string, Uint8Array>;

/**
 * The keys in the order of the references. All must exist: a rotation adds the Secret first, then the
 * reference.
 */
export async function readKeys(
  client: Pick<KubeClient, 'find'>,
  namespace: string,
  scheme: KeyScheme,
  refs: readonly SecretKeyRef[],
): Promise<FoundKeys> {
  const found = new Map<string, Values | undefined>();
  for (const name of new Set(refs.map((ref) => ref.name))) {
    const secret = await client.find(secrets, { namespace, name });
    found.set(name, secret && valuesOf(secret.data));
  }
  return checkKeyValues(namespace, scheme, refs, found);
}

/** Pure. */
export function checkKeyValues(
  namespace: string,
  scheme: KeyScheme,
  refs: readonly SecretKeyRef[],
  found: ReadonlyMap<string, Values | undefined>,
): FoundKeys {
  const names = new Map([...found].map(([name, values]) => [name, values && [...values.keys()]]));
  const { reason, message } = checkKeys(namespace, refs, names);
  if (reason !== 'Complete') return { ok: false, reason, message };
  const keys: Uint8Array[] = [];
  for (const { name, key } of refs) {
    const usable = usableKey(scheme, found.get(name)?.get(key) ?? new Uint8Array());
    if (!usable.ok)
      return {
        ok: false,
        reason: 'KeyUnusable',
        message: `Secret ${name}, key ${key}: the value ${usable.why}`,
      };
    keys.push(usable.key);
  }
  return { ok: true, keys };
}

function valuesOf(data: Record<string, string> = {}): Values {
  return new Map(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64')]));
}
