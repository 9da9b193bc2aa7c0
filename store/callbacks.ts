/**
 * What URLs of callbacks of a project are made of: the keys that sign them, and the URL of the public
 * listener. The operator stores both; runners of the project make URLs with the current key, gateways check
 * them with all.
 */
import type { CallbackKey } from '../api/callback.ts';
import {
  doneOrUnavailable,
  orUnavailable,
  type Done,
  type RunStoreConnection,
  type Unavailable,
} from './connection.ts';
import { keysOf, type ProjectUid } from './keys.ts';

/** `key`: the current one. */
export type CallbackSettings = { url: string; key: CallbackKey; keys: readonly CallbackKey[] };

const KEY = 'key:';

/** Stores the settings, and removes keys that they do not have. */
export function putCallbackSettings(
  conn: RunStoreConnection,
  project: ProjectUid,
  { url, key, keys }: CallbackSettings,
): Promise<Done> {
  const { callbacks } = keysOf(project);
  const wanted = new Map<string, string>([['url', url]]);
  for (const { id, key: bytes } of keys) wanted.set(KEY + id, Buffer.from(bytes).toString('base64url'));
  wanted.set('current', key.id);
  return doneOrUnavailable(async () => {
    const stored = (await conn.command('hgetall', callbacks)) as Record<string, string>;
    const changed = [...wanted].filter(([name, text]) => stored[name] !== text);
    if (changed.length > 0) await conn.command('hset', callbacks, ...changed.flat());
    const over = Object.keys(stored).filter((name) => !wanted.has(name));
    if (over.length > 0) await conn.command('hdel', callbacks, ...over);
  });
}

/** `absent`: the operator has not stored them, or the store lost its data. */
export function readCallbackSettings(
  conn: RunStoreConnection,
  project: ProjectUid,
): Promise<{ outcome: 'read'; settings: CallbackSettings } | { outcome: 'absent' } | Unavailable> {
  return orUnavailable(async () => {
    const stored = (await conn.command('hgetall', keysOf(project).callbacks)) as Record<string, string>;
    const keys = Object.entries(stored).flatMap(([name, text]): CallbackKey[] =>
      name.startsWith(KEY) ? [{ id: name.slice(KEY.length), key: Buffer.from(text, 'base64url') }] : [],
    );
    const { url, current } = stored;
    const key = keys.find(({ id }) => id === current);
    if (url === undefined || key === undefined) return { outcome: 'absent' };
    return { outcome: 'read', settings: { url, key, keys } };
  });
}
