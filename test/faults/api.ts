/**
 * The plainest possible client of the API server, for what must be asked often and without the product's own
 * code.
 */
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { text as textOf } from 'node:stream/consumers';
import type { KubeConnection } from '../../kube/config.ts';

/** The answer as a stream; a `merge` is sent as a JSON merge patch. */
export function ask(
  { server, ca, auth }: KubeConnection,
  path: string,
  signal: AbortSignal,
  merge?: object,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const asked = request(new URL(path, server), {
      method: merge ? 'PATCH' : 'GET',
      headers: merge ? { 'content-type': 'application/merge-patch+json' } : {},
      ca,
      cert: auth.cert,
      key: auth.key,
      signal,
      agent: false,
    });
    asked.on('error', reject);
    asked.on('response', resolve);
    asked.end(merge && JSON.stringify(merge));
  });
}

/**
 * The object, after the patch where there is one. Throws when the answer is no success, or does not come in
 * five seconds.
 */
export async function askObject<T>(connection: KubeConnection, path: string, merge?: object): Promise<T> {
  const answer = await ask(connection, path, AbortSignal.timeout(5_000), merge);
  const text = await textOf(answer);
  if (answer.statusCode !== 200) throw new Error(`${path} was answered with ${answer.statusCode}: ${text}`);
  return JSON.parse(text) as T;
}
