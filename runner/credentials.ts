/**
 * The credentials of the project for steps. Reads only Secrets that a Credential refers to, by name. While
 * the API server is unavailable, steps use the cached values.
 */
import type { CredentialSpec } from '../api/credential.ts';
import { GROUP, VERSION } from '../api/group.ts';
import { CREDENTIAL, type Credential } from '../api/kinds.ts';
import { StepError } from '../api/reasons.ts';
import { connectionOf } from '../api/provider.ts';
import { connectionKey, runnerRefs, TOKENS } from '../api/token.ts';
import type { SecretKeyRef } from '../api/value.ts';
import type { Cache } from '../kube/cache.ts';
import { namespacedResource } from '../kube/resource.ts';
import type { CredentialAccess } from '../nodes/contract/node.ts';
import { Secret } from '../nodes/contract/secret.ts';
import { hashOf } from '../store/oauth/states.ts';
import type { SecretReader, SecretValues } from './secrets.ts';

export const credentialResource = namespacedResource<Credential>(
  GROUP,
  VERSION,
  CREDENTIAL.kind,
  CREDENTIAL.plural,
);

/** The source of credentials for steps. */
export type CredentialSource = {
  /** Throws a StepError `CredentialMissing` if the credential or one of its Secrets does not exist. */
  get(name: string): Promise<CredentialAccess>;
  /**
   * The credential of this name and spec with its current Secrets, which steps use from then on. Throws a
   * StepError `CredentialMissing` if they cannot be read.
   */
  fresh(name: string, spec: CredentialSpec): Promise<CredentialAccess>;
  /**
   * Reads the Secrets again, because the credential was rejected. Returns whether they have changed.
   */
  hasChanged(used: CredentialAccess): Promise<boolean>;
};

/** The longest time that a Secret is cached. */
const MAX_AGE_MS = 300_000;
/**
 * Access tokens are renewed long before they expire, so a token that is cached for this time has not expired.
 */
const MAX_TOKEN_AGE_MS = 60_000;

type Parts = Map<string, SecretValues | undefined>;

/**
 * Creates the source of the cached credentials. After a change of a Credential, its Secrets are read again at
 * the next use.
 */
export function createCredentials(
  cache: Pick<Cache<Credential>, 'get' | 'onChange'>,
  reader: SecretReader,
  namespace: string,
): CredentialSource {
  const partsByAccess = new WeakMap<CredentialAccess, Parts>();
  cache.onChange(({ object }) => {
    for (const { name } of runnerRefs(object.metadata.name, object.spec)) reader.forget(name);
  });

  const known = (name: string) => reader.read(name, name === TOKENS ? MAX_TOKEN_AGE_MS : MAX_AGE_MS);

  async function partsOf(credential: string, spec: CredentialSpec, read = known): Promise<Parts> {
    const names = [...new Set(runnerRefs(credential, spec).map(({ name }) => name))];
    try {
      return new Map(await Promise.all(names.map(async (name) => [name, await read(name)] as const)));
    } catch (error) {
      const message = `cannot read a Secret of the Credential ${credential} now`;
      throw new StepError('CredentialMissing', message, { cause: error });
    }
  }

  async function accessTo(
    name: string,
    spec: CredentialSpec,
    { uid, read = known }: { uid?: string | undefined; read?: typeof known } = {},
  ): Promise<CredentialAccess> {
    const parts = await partsOf(name, spec, read);
    const access: CredentialAccess = {
      name,
      ...(uid !== undefined && { uid }),
      spec,
      secret: (ref) => {
        const values = parts.get(ref.name);
        if (spec.oauth2 && ref.name === TOKENS) refuseOtherConnection(name, spec.oauth2, values);
        return secretOf(name, ref, values);
      },
    };
    partsByAccess.set(access, parts);
    return access;
  }

  return {
    get: async (name) => {
      const credential = cache.get(namespace, name);
      if (!credential) {
        throw new StepError('CredentialMissing', `the Credential ${name} does not exist: create it`);
      }
      return accessTo(name, credential.spec, { uid: credential.metadata.uid });
    },
    // A value from before would report an account as rejected that works by now.
    fresh: (name, spec) => accessTo(name, spec, { read: (secret) => reader.current(secret) }),
    hasChanged: async (used) => {
      const credential = cache.get(namespace, used.name);
      if (!credential) return false;
      if (JSON.stringify(credential.spec) !== JSON.stringify(used.spec)) return true;
      const parts = await partsOf(used.name, credential.spec, (name) => reader.again(name));
      return [...parts].some(([name, values]) => values !== partsByAccess.get(used)?.get(name));
    },
  };
}

/**
 * Refuses a token that was issued for another client or other hosts. A changed Credential may be seen before
 * the operator has removed its token.
 */
function refuseOtherConnection(
  credential: string,
  oauth2: NonNullable<CredentialSpec['oauth2']>,
  values: SecretValues | undefined,
): void {
  if (values?.[connectionKey(credential)] === hashOf(connectionOf(oauth2))) return;
  const message = `the access token of the Credential ${credential} was issued for another client or other hosts: connect the credential again`;
  throw new StepError('CredentialMissing', message);
}

function secretOf(credential: string, { name, key }: SecretKeyRef, values: SecretValues | undefined): Secret {
  const value = values && Object.hasOwn(values, key) ? values[key] : undefined;
  if (value !== undefined && value !== '') return new Secret(value);
  const problem = values ? `has no key ${key}: add it` : 'does not exist: create it';
  throw new StepError('CredentialMissing', `the Secret ${name} of the Credential ${credential} ${problem}`);
}
