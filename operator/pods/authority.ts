/**
 * The certificate authorities of the run store in a project: in the pool's Secret, and as a file in the pods.
 * When they change, the kubelet replaces the file, and programs read it for each connection, so that no pod
 * restarts.
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

/** PEM; undefined if public authorities are trusted. */
export type AuthorityReader = () => Promise<string | undefined>;

/**
 * Reads the file each time. Invalid authorities are logged once, and the last valid ones stay in use. Throws
 * an Error that names the file while there are no valid ones.
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
        throw new Error(`The certificate authorities of the run store in ${file} are invalid: ${message}`, {
          cause,
        });
      if (message !== refused) log.error({ caFile: file, error: message }, 'invalid run store authorities');
      refused = message;
    }
    return good;
  };
}

/** The volume and mount of a pod; nothing if public authorities are trusted. */
export function authorityMount({ REDIS_CA_FILE: file }: AuthoritySettings) {
  if (file === undefined) return {};
  const secret = { secretName: POOL, items: [{ key: AUTHORITY_KEY, path: AUTHORITY_KEY }] };
  return {
    volumes: [{ name: VOLUME, secret }],
    volumeMounts: [{ name: VOLUME, mountPath: FOLDER, readOnly: true }],
  };
}

/** The variable that names the file. */
export function authorityVariable({ REDIS_CA_FILE: file }: AuthoritySettings) {
  return file === undefined ? [] : [{ name: 'REDIS_CA_FILE', value: `${FOLDER}/${AUTHORITY_KEY}` }];
}
