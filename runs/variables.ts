/**
 * Variables of a project in the run store. A set of variables is immutable and named by its hash; `meta`
 * names the current one, which `submit` writes into each run.
 */
import { createHash } from 'node:crypto';
import { parseExact } from '../api/exact/exactNumber.ts';
import { canonicalJson } from '../kube/json.ts';
import {
  doneOrUnavailable,
  orUnavailable,
  type Done,
  type RunStoreConnection,
  type Unavailable,
} from '../store/connection.ts';
import { keysOf, type ProjectUid } from '../store/keys.ts';
import { forEachPage } from '../store/scan.ts';
import { defineScript } from '../store/script.ts';

export type VariableValues = Readonly<Record<string, unknown>>;

/** Also while the project is being seeded, and when the memory is full, because restored runs need them. */
const PUT_VARIABLES = defineScript({
  flags: 'drains',
  keys: ['meta', 'variables'],
  args: ['hash', 'text'],
  answers: 'OK',
  body: `
    if redis.call('EXISTS', meta) == 0 then return redis.error_reply('NOLOG the run store is empty') end
    redis.call('SET', variables, text)
    redis.call('HSET', meta, 'vars', hash)
    return 'OK'
  `,
});

/** Stores the variables, and makes them those of runs that are accepted from now on. */
export function putVariables(
  conn: RunStoreConnection,
  project: ProjectUid,
  values: VariableValues,
): Promise<Done> {
  const { meta, variables } = keysOf(project);
  const text = canonicalJson(values);
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 32);
  return doneOrUnavailable(() => conn.script(PUT_VARIABLES, [meta, variables(hash)], [hash, text]));
}

const known = new Map<string, VariableValues>();
const SETS_KEPT = 100;

/** The variables with this hash; none if they are not stored. They never change, so they are read once. */
export async function getVariables(
  conn: RunStoreConnection,
  project: ProjectUid,
  hash: string,
): Promise<{ values: VariableValues } | Unavailable> {
  const key = keysOf(project).variables(hash);
  const values = known.get(key);
  if (values) return { values };
  return orUnavailable(async () => {
    const text = await conn.command('get', key);
    if (typeof text !== 'string') return { values: {} };
    const parsed = parseExact(text) as VariableValues;
    if (known.size >= SETS_KEPT) known.clear();
    known.set(key, parsed);
    return { values: parsed };
  });
}

const DROP_VARIABLES = defineScript({
  keys: ['meta', 'variables'],
  args: ['hash'],
  answers: 'how many were removed: none if they are the current ones',
  body: `
    if redis.call('HGET', meta, 'vars') == hash then return 0 end
    return redis.call('UNLINK', variables)
  `,
});

/**
 * Removes variables that are not current and that no run in the store uses. Takes one call for each run, if
 * there are variables to check. Returns how many were removed.
 */
export async function dropUnusedVariables(
  conn: RunStoreConnection,
  project: ProjectUid,
): Promise<number | Unavailable> {
  const keys = keysOf(project);
  return orUnavailable(async () => {
    const current = await conn.command('hget', keys.meta, 'vars');
    const unused = new Set<string>();
    const collect = async (names: string[]): Promise<void> => {
      for (const name of names) unused.add(name.slice(keys.variables('').length));
      await Promise.resolve();
    };
    await forEachPage(conn, `${keys.variables('')}*`, collect);
    unused.delete(String(current));
    if (unused.size === 0) return 0;
    await forEachPage(conn, `${keys.run('')}*`, async (names) => {
      const hashes = await Promise.all(names.map((name) => conn.command('hget', name, 'vars')));
      for (const hash of hashes) unused.delete(String(hash));
    });
    let removed = 0;
    for (const hash of unused) {
      const answer = await conn.script(DROP_VARIABLES, [keys.meta, keys.variables(hash)], [hash]);
      removed += Number(answer);
    }
    return removed;
  });
}
