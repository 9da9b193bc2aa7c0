/** Whether the Secrets of a credential have the keys that it names. Pure; values are never read. */
import type { Reason } from '../../api/conditions.ts';
import type { SecretKeyRef } from '../../api/value.ts';

export type Finding = {
  status: 'True' | 'False';
  reason: Extract<Reason, 'Complete' | 'SecretMissing' | 'KeyMissing'>;
  message: string;
};

/** The keys of each Secret by its name; undefined where there is no such Secret. */
export type SecretKeys = ReadonlyMap<string, readonly string[] | undefined>;

/** For kinds that cannot be checked; for others, the result of the check replaces it. */
const COMPLETE =
  'The Secret and its keys exist. Whether the credential works is unknown: set http.checkURL to have it checked.';

/** The finding about Secrets for the condition `Ready`. */
export function checkKeys(namespace: string, refs: readonly SecretKeyRef[], found: SecretKeys): Finding {
  const missing = refs.find(({ name }) => found.get(name) === undefined);
  if (missing)
    return {
      status: 'False',
      reason: 'SecretMissing',
      message: missingSecret(namespace, missing.name, refs),
    };
  const ref = refs.find(({ name, key }) => !found.get(name)?.includes(key));
  if (ref) return { status: 'False', reason: 'KeyMissing', message: missingKey(namespace, ref) };
  return { status: 'True', reason: 'Complete', message: COMPLETE };
}

function missingSecret(namespace: string, name: string, refs: readonly SecretKeyRef[]): string {
  const keys = refs.filter((ref) => ref.name === name).map(({ key }) => `--from-literal=${key}=VALUE`);
  const command = `kubectl -n ${namespace} create secret generic ${name} ${[...new Set(keys)].join(' ')}`;
  return `Secret ${name} does not exist. Create it: ${command}`;
}

function missingKey(namespace: string, { name, key }: SecretKeyRef): string {
  const command = `kubectl -n ${namespace} patch secret ${name} -p '{"stringData":{"${key}":"VALUE"}}'`;
  return `Secret ${name} has no key ${key}. Add it: ${command}`;
}
