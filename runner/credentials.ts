/**
 * The credentials of the project, as the steps use them. Only Secrets that a Credential names are read, each
 * by its name. Steps go on with what is known while the API server is away.
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
import type { CredentialAccess } from '../nodes/node.ts';
import { Secret } from '../nodes/secret.ts';
import { hashOf } from '../runs/connect/store.ts';
import type { SecretReader, SecretValues } from './secrets.ts';

export const credentialResource = namespacedResource<Credential>(
  GROUP,
  VERSION,
  CREDENTIAL.kind,
  CREDENTIAL.plural,
);

/** Where steps get credentials from. */
export type CredentialSource = {
  /** Throws a StepError `CredentialMissing` when the credential or one of its Secrets is not there. */
  get(name: string): Promise<CredentialAccess>;
  /**
   * The credential of this name and spec, with its Secrets as they are now, whatever is known of them; steps
   * get these from then on. Throws a StepError `CredentialMissing` when they cannot be read.
   */
  fresh(name: string, spec: CredentialSpec): Promise<CredentialAccess>;
  /**
   * Reads the Secrets again, since the credential was refused. True when they are not what it was made of.
   */
  hasChanged(used: CredentialAccess): Promise<boolean>;
};

/** A Secret that works is read again after this time. */
const MOST_AGE_MS = 300_000;
/** Access tokens are renewed long before they end; read as often as that, none is used that has ended. */
const MOST_TOKEN_AGE_MS = 60_000;

type Parts = Map<string, SecretValues | undefined>;

/**
 * The credentials that the cache follows. A change of a Credential has its Secrets read again when they are
 * next used.
 */
export function createCredentials(
  cache: Pick<Cache<Credential>, 'get' | 'onChange'>,
  reader: SecretReader,
  namespace: string,
): CredentialSource {
  const madeOf = new WeakMap<CredentialAccess, Parts>();
  cache.onChange(({ object }) => {
    for (const { name } of runnerRefs(object.metadata.name, object.spec)) reader.forget(name);
  });

  const known = (name: string) => reader.read(name, name === TOKENS ? MOST_TOKEN_AGE_MS : MOST_AGE_MS);

  async function partsOf(credential: string, spec: CredentialSpec, read = known): Promise<Parts> {
    const names = [...new Set(runnerRefs(credential, spec).map(({ name }) => name))];
    try {
      return new Map(await Promise.all(names.map(async (name) => [name, await read(name)] as const)));
    } catch (error) {
      const message = `a Secret of the Credential ${credential} cannot be read now`;
      throw new StepError('CredentialMissing', message, { cause: error });
    }
  }

  async function accessTo(name: string, spec: CredentialSpec, uid?: string): Promise<CredentialAccess> {
    const parts = await partsOf(name, spec);
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
    madeOf.set(access, parts);
    return access;
  }

  return {
    get: async (name) => {
      const credential = cache.get(namespace, name);
      if (!credential) {
        throw new StepError(
          'CredentialMissing',
          `there is no Credential ${name} in this namespace: apply it`,
        );
      }
      return accessTo(name, credential.spec, credential.metadata.uid);
    },
    fresh: (name, spec) => {
      for (const ref of runnerRefs(name, spec)) reader.forget(ref.name);
      return accessTo(name, spec);
    },
    hasChanged: async (used) => {
      const credential = cache.get(namespace, used.name);
      if (!credential) return false;
      if (JSON.stringify(credential.spec) !== JSON.stringify(used.spec)) return true;
      const parts = await partsOf(used.name, credential.spec, (name) => reader.again(name));
      return [...parts].some(([name, values]) => values !== madeOf.get(used)?.get(name));
    },
  };
}

/**
 * A Credential that was changed may be seen before the operator has taken its token away: what was given for
 * other hosts or another client is not sent to these.
 */
function refuseOtherConnection(
  credential: string,
  oauth2: NonNullable<CredentialSpec['oauth2']>,
  values: SecretValues | undefined,
): void {
  if (values?.[connectionKey(credential)] === hashOf(connectionOf(oauth2))) return;
  const message = `the access token of the Credential ${credential} is not of the client and hosts that it names: connect it again`;
  throw new StepError('CredentialMissing', message);
}

function secretOf(credential: string, { name, key }: SecretKeyRef, values: SecretValues | undefined): Secret {
  const value = values && Object.hasOwn(values, key) ? values[key] : undefined;
  if (value !== undefined && value !== '') return new Secret(value);
  const problem = values ? `has no key ${key}: add it` : 'does not exist: create it';
  throw new StepError('CredentialMissing', `the Secret ${name} of the Credential ${credential} ${problem}`);
}
