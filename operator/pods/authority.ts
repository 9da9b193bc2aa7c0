/**
 * The authority of the run store's certificate in a project: in the pool's Secret, beside the password, and a file in the pods.
 * When it changes, the kubelet replaces the file and nobody starts anew, since programs read it for each connection.
 */
import { readFile } from 'node:fs/promises';
import type { Log } from '../../kube/log.ts';
import { parseAuthorities } from '../../store/trust.ts';
import type { OperatorConfig } from '../shared/config.ts';
import { POOL } from '../shared/names.ts';

/** The key of the Secret, and the name of the file. */
export const AUTHORITY_KEY = 'ca.crt';

const FOLDER = '/etc/windlass/run-store';
const VOLUME = 'run-store-ca';

type AuthoritySettings = Pick<OperatorConfig, 'REDIS_CA_FILE'>;

/** PEM; undefined where public authorities are trusted. */
export type AuthorityReader = () => Promise<string | undefined>;

/**
 * Reads the file each time. Authorities that cannot be used are logged once, and the last good ones stay: new pods of projects would
 * trust nobody with them. Throws an Error that names the file when there are no good ones yet.
 */
export function createAuthorityReader({ REDIS_CA_FILE: file }: AuthoritySettings, log: Log): AuthorityReader {
  let good: string | undefined;
  let refused = '';
  return async () => {
    if (file === undefined) return undefined;
    try {
      const text = await readFile(file, 'utf8');
      parseAuthorities(text);
      good = text;
      refused = '';
    } catch (cause) {
      const { message } = cause as Error;
      if (good === undefined)
        throw new Error(`The authorities of the run store in ${file} cannot be used: ${message}`, { cause });
      if (message !== refused)
        log.error({ caFile: file, error: message }, 'refused the new authorities of the run store');
      refused = message;
    }
    return good;
  };
}

/** What a pod and its container have for it; nothing where public authorities are trusted. */
export function authorityMount({ REDIS_CA_FILE: file }: AuthoritySettings) {
  if (file === undefined) return {};
  const secret = { secretName: POOL, items: [{ key: AUTHORITY_KEY, path: AUTHORITY_KEY }] };
  return {
    volumes: [{ name: VOLUME, secret }],
    volumeMounts: [{ name: VOLUME, mountPath: FOLDER, readOnly: true }],
  };
}

/** The variable that names the file to a program in such a pod. */
export function authorityVariable({ REDIS_CA_FILE: file }: AuthoritySettings) {
  return file === undefined ? [] : [{ name: 'REDIS_CA_FILE', value: `${FOLDER}/${AUTHORITY_KEY}` }];
}
