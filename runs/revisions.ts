/** Revisions in the run store: a route opens, and a run is claimed, only where its revision is there. */
import { canonicalJson } from '../kube/json.ts';
import { type Revision } from '../api/revision.ts';
import {
  doneOrUnavailable,
  orUnavailable,
  type Done,
  type RunStoreConnection,
  type Unavailable,
} from '../store/connection.ts';
import { keysOf, type ProjectUid } from '../store/keys.ts';
import { defineScript } from '../store/script.ts';

/** Runs also when the memory is full, because restored runs need their revisions. */
const PUT_REVISION = defineScript({
  flags: 'drains',
  keys: ['revision'],
  args: ['text'],
  answers: 'OK',
  body: `return redis.call('SET', revision, text)`,
});

/** Stores a revision. */
export function putRevision(
  conn: RunStoreConnection,
  project: ProjectUid,
  name: string,
  revision: Revision,
): Promise<Done> {
  return doneOrUnavailable(() =>
    conn.script(PUT_REVISION, [keysOf(project).revision(name)], [canonicalJson(revision)]),
  );
}

const revisions = new Map<string, Revision>();
const REVISIONS_KEPT = 1_000;

/** A revision; undefined where it is not stored. It never changes, so that it is read once. */
export async function getRevision(
  conn: RunStoreConnection,
  project: ProjectUid,
  name: string,
): Promise<Revision | undefined | Unavailable> {
  const key = keysOf(project).revision(name);
  const known = revisions.get(key);
  if (known) return known;
  return orUnavailable(async () => {
    const text = await conn.command('get', key);
    if (typeof text !== 'string') return undefined;
    const revision = JSON.parse(text) as Revision;
    if (revisions.size >= REVISIONS_KEPT) revisions.clear();
    revisions.set(key, revision);
    return revision;
  });
}

/** Removes revisions. */
export function dropRevisions(conn: RunStoreConnection, project: ProjectUid, names: string[]): Promise<Done> {
  if (names.length === 0) return Promise.resolve({ outcome: 'done' });
  return doneOrUnavailable(() => conn.command('unlink', ...names.map(keysOf(project).revision)));
}
