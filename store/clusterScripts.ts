/** Scripts as a Redis Cluster executes them. */
import { createHash } from 'node:crypto';
import type { Script } from './script.ts';

const known = new WeakMap<Script, Script>();

/**
 * The script with sharded messages in the place of others: only the servers of the slot get them. An ordinary
 * message goes to every server of the cluster, so that more servers would carry no more messages.
 */
export function shardedScript(script: Script): Script {
  let sharded = known.get(script);
  if (!sharded) {
    const lua = script.lua.replaceAll("'PUBLISH'", "'SPUBLISH'");
    sharded = { ...script, lua, sha: createHash('sha1').update(lua).digest('hex') };
    known.set(script, sharded);
  }
  return sharded;
}
