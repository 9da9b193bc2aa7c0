/** The secrets that steps have used in this process, to mask them in what records show of steps. */
import { StepError } from '../api/reasons.ts';
import { runnerRefs } from '../api/token.ts';
import type { CredentialAccess } from '../nodes/contract/node.ts';
import { echoesOf, type Mask, type Secret } from '../nodes/contract/secret.ts';
import type { CredentialSource } from './credentials.ts';

/** Tokens are renewed: beyond this number the oldest secret is forgotten. */
const MOST_SECRETS = 500;

export type LoadedSecrets = {
  /** Notes the secrets of a credential that a step uses. */
  note(credential: CredentialAccess): void;
  /** The masks of all noted secrets, in the forms in which others repeat them. */
  masks(): readonly Mask[];
};

export function createLoadedSecrets(limit = MOST_SECRETS): LoadedSecrets {
  const masksByText = new Map<string, readonly Mask[]>();
  let all: readonly Mask[] = [];
  return {
    note: (credential) => {
      const added = secretsOf(credential).filter((secret) => !masksByText.has(secret.reveal()));
      if (added.length === 0) return;
      for (const secret of added) masksByText.set(secret.reveal(), echoesOf(secret));
      for (const text of masksByText.keys()) if (masksByText.size > limit) masksByText.delete(text);
      all = [...masksByText.values()].flat();
    },
    masks: () => all,
  };
}

/** The secrets of a credential that exist. */
function secretsOf(credential: CredentialAccess): Secret[] {
  return runnerRefs(credential.name, credential.spec).flatMap((ref) => {
    try {
      return credential.secret(ref);
    } catch (error) {
      if (error instanceof StepError) return [];
      throw error;
    }
  });
}

/** The same source, which notes the secrets of the credentials that it gives. */
export function notingSecrets(credentials: CredentialSource, loaded: LoadedSecrets): CredentialSource {
  return {
    ...credentials,
    get: async (name) => {
      const credential = await credentials.get(name);
      loaded.note(credential);
      return credential;
    },
  };
}
