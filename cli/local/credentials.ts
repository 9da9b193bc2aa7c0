/** The credentials of a run without a cluster, whose secrets are those of manifests. */
import { StepError } from '../../api/reasons.ts';
import { Secret } from '../../nodes/contract/secret.ts';
import type { CredentialSource } from '../../runner/credentials.ts';
import type { LocalProject } from './project.ts';

/** The source of the project's credentials. They never change during a run. */
export function localCredentials({ credentials, secrets }: LocalProject): CredentialSource {
  const get: CredentialSource['get'] = (name) => {
    const credential = credentials.get(name);
    if (!credential) throw missing(`there is no Credential ${name} in the files: add it with --credentials`);
    return Promise.resolve({
      name,
      spec: credential.spec,
      secret: ({ name: secret, key }) => {
        const value = secrets.get(secret)?.[key];
        if (value !== undefined) return new Secret(value);
        throw missing(`the files have no Secret ${secret} with the key ${key}: add it with --credentials`);
      },
    });
  };
  return {
    get: async (name) => get(name),
    fresh: async (name) => get(name),
    hasChanged: () => Promise.resolve(false),
  };
}

const missing = (message: string) => new StepError('CredentialMissing', message);
