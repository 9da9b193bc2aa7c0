/**
 * The Secret with the passwords of the run store. The operator creates it first, since Redis and the
 * gateway wait for it, and never changes an existing one.
 */
import type { KubeClient } from '../../kube/client.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
import { secrets, type ObjectRef } from '../../kube/resource.ts';
import { generatePassword } from '../shared/password.ts';

/** The keys of the Secret. */
const OPERATOR_PASSWORD = 'operator-password';
const GATEWAY_PASSWORD = 'gateway-password';
/** Of an account that is supplied for all runners. */
const RUNNER_PASSWORD = 'runner-password';

/** Creates the Secret unless it exists. Safe for concurrent replicas: the first one wins. */
export async function ensureStoreSecret(
  client: Pick<KubeClient, 'find' | 'create'>,
  ref: ObjectRef,
): Promise<void> {
  if (await client.find(secrets, ref)) return;
  const generated = () => Buffer.from(generatePassword()).toString('base64');
  const data = { [OPERATOR_PASSWORD]: generated(), [GATEWAY_PASSWORD]: generated() };
  try {
    await client.create(secrets, { metadata: { ...ref }, type: 'Opaque', data });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

export type StorePasswords = { operator: string; gateway: string };

/**
 * The passwords. Throws an Error that says what to do when the Secret or one of its keys is missing.
 */
export async function readStorePasswords(
  client: Pick<KubeClient, 'find'>,
  ref: ObjectRef,
): Promise<StorePasswords> {
  const read = await readerOf(client, ref, [OPERATOR_PASSWORD, GATEWAY_PASSWORD]);
  return { operator: read(OPERATOR_PASSWORD), gateway: read(GATEWAY_PASSWORD) };
}

/** The password of the account that was supplied for all runners. Throws in the same way. */
export async function readRunnerPassword(client: Pick<KubeClient, 'find'>, ref: ObjectRef): Promise<string> {
  const read = await readerOf(client, ref, [OPERATOR_PASSWORD, GATEWAY_PASSWORD, RUNNER_PASSWORD]);
  return read(RUNNER_PASSWORD);
}

async function readerOf(
  client: Pick<KubeClient, 'find'>,
  ref: ObjectRef,
  keys: readonly string[],
): Promise<(key: string) => string> {
  const data = (await client.find(secrets, ref))?.data ?? {};
  return (key) => {
    const value = data[key];
    if (value !== undefined) return Buffer.from(value, 'base64').toString('utf8');
    const literals = keys.map((each) => `--from-literal=${each}=VALUE`).join(' ');
    const command = `kubectl -n ${ref.namespace ?? 'default'} create secret generic ${ref.name} ${literals}`;
    throw new Error(`Secret ${ref.name} has no key ${key}. Create it: ${command}`);
  };
}
