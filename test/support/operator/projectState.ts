/**
 * What there is of projects, in the API server and in the run store, in a form in which two projects that
 * came to the same are equal: without times, counters and what is made again each time, such as uids and
 * passwords. Where two things must agree, as the password of a Secret and that of an account, they are
 * replaced by the same word, and left as they are where they do not.
 */
import { createHash } from 'node:crypto';
import { WEBHOOKS, parseEntryName } from '../../../api/webhookAuth.ts';
import { canonicalJson } from '../../../kube/json.ts';
import type { KubeClient } from '../../../kube/client.ts';
import {
  configMaps,
  controllerRevisions,
  deployments,
  namespaces,
  roleBindings,
  roles,
  secrets,
  serviceAccounts,
  type KubeObject,
  type Resource,
  type Secret,
} from '../../../kube/resource.ts';
import { parseKeys } from '../../../operator/project/callbackKeys.ts';
import { CALLBACK_KEYS } from '../../../operator/project/manifests.ts';
import { POOL } from '../../../operator/shared/names.ts';
import {
  credentials,
  networkPolicies,
  podDisruptionBudgets,
  webhookRoutes,
  workflowRuns,
  workflows,
} from '../../../operator/shared/resources.ts';
import { poolAccount, poolAccounts } from '../../../store/accounts.ts';
import type { RunStoreConnection } from '../../../store/connection.ts';
import { projectOfKey } from '../../../store/keys.ts';

/** Everything that the operator makes, or that users make for it. */
const PROJECT_KINDS: Resource<KubeObject>[] = [
  workflows,
  workflowRuns,
  credentials,
  webhookRoutes,
  controllerRevisions,
  deployments,
  roles,
  roleBindings,
  serviceAccounts,
  secrets,
  configMaps,
  networkPolicies,
  podDisruptionBudgets,
];

export type Project = { namespace: string; uid: string };

/**
 * What the controllers of a cluster do about a namespace that is deleted, which do not run beside an API
 * server alone.
 */
export async function deleteNamespace(client: KubeClient, namespace: string): Promise<void> {
  await client.delete(namespaces, { name: namespace });
  for (const resource of PROJECT_KINDS) {
    const { items } = await client.listAll(resource, { namespace });
    await Promise.all(items.map(({ metadata: { name } }) => client.delete(resource, { namespace, name })));
  }
  const path = `/api/v1/namespaces/${namespace}`;
  const object = (await client.raw('GET', path)) as object;
  await client.raw('PUT', `${path}/finalize`, { body: { ...object, spec: { finalizers: [] } } });
}

type Found = {
  objects: Map<string, KubeObject[]>;
  keys: Map<string, Map<string, unknown>>;
  accounts: string[];
};

/** Everything of all projects, as it is. */
export async function readEverything(client: KubeClient, conn: RunStoreConnection): Promise<Found> {
  const lists = await Promise.all(PROJECT_KINDS.map((resource) => client.listAll(resource)));
  const objects = new Map<string, KubeObject[]>();
  for (const { metadata, ...rest } of lists.flatMap(({ items }) => items)) {
    const { namespace = '' } = metadata;
    objects.set(namespace, [...(objects.get(namespace) ?? []), { metadata, ...rest }]);
  }
  return { objects, keys: await readKeys(conn), accounts: await poolAccounts(conn) };
}

async function readKeys(conn: RunStoreConnection): Promise<Found['keys']> {
  const found: Found['keys'] = new Map();
  let cursor = '0';
  do {
    const [next, names] = (await conn.command('scan', cursor, 'match', 'wl:*', 'count', 1_000)) as [
      string,
      string[],
    ];
    // All at once, which is one message to the server.
    const values = await Promise.all(names.map((name) => valueOf(conn, name)));
    for (const [at, name] of names.entries()) {
      const project = projectOfKey(name);
      // What belongs to the installation: the seal of codes that browsers bring.
      if (project === undefined) continue;
      const own = found.get(project) ?? new Map<string, unknown>();
      found.set(project, own.set(name.slice(name.indexOf('}:') + 2), values[at]));
    }
    cursor = next;
  } while (cursor !== '0');
  return found;
}

/** How a value of each type is read. */
const READERS: Record<string, string[]> = {
  string: ['get'],
  hash: ['hgetall'],
  zset: ['zrange', '0', '-1'],
  set: ['smembers'],
  list: ['lrange', '0', '-1'],
};

async function valueOf(conn: RunStoreConnection, key: string): Promise<unknown> {
  const [command = 'type', ...range] = READERS[(await conn.command('type', key)) as string] ?? [];
  return conn.command(command, key, ...range);
}

/** The state of one project, as lines that name what they are about. */
export async function stateOf(
  found: Found,
  conn: RunStoreConnection,
  { namespace, uid }: Project,
): Promise<string[]> {
  const objects = collected(found.objects.get(namespace) ?? []);
  const keys = found.keys.get(uid) ?? new Map<string, unknown>();
  const hasSecret = objects.some(({ kind, metadata: { name } }) => kind === 'Secret' && name === POOL);
  const account = found.accounts.includes(uid) ? await accountOf(conn, uid) : undefined;
  const lines = [
    ...objects.map((object) => `${object.kind} ${object.metadata.name}: ${canonicalJson(lasting(object))}`),
    ...[...(hasSecret ? keys : withoutCallbackKeys(keys))].map(
      ([key, value]) => `${key}: ${canonicalJson(withoutCounters(key, value))}`,
    ),
    ...(account === undefined ? [] : [`account: ${canonicalJson(account)}`]),
  ];
  const listed = wordsOf(objects, { namespace, uid });
  // In one pass, since a state has thousands of places. Of two words for a value the first one counts.
  const words = new Map(listed.toReversed());
  const known = new RegExp(listed.map(([value]) => RegExp.escape(value)).join('|'), 'g');
  return lines.map((line) => written(line, known, words)).toSorted();
}

/** Of a project whose Secret is gone: nothing says which keys of callbacks are the right ones. */
function withoutCallbackKeys(keys: ReadonlyMap<string, unknown>): ReadonlyMap<string, unknown> {
  return new Map([...keys].filter(([key]) => key !== 'callbacks'));
}

/** The server lists commands in an order that is another each time. */
async function accountOf(conn: RunStoreConnection, uid: string): Promise<unknown[]> {
  const fields = (await conn.command('acl', 'getuser', poolAccount(uid))) as unknown[];
  return fields.map((field) => (typeof field === 'string' ? field.split(' ').toSorted() : field));
}

/** Without what the garbage collector takes, which does not run here: objects of which no owner exists. */
function collected(objects: KubeObject[]): KubeObject[] {
  const uids = new Set(objects.map(({ metadata }) => metadata.uid));
  const kept = objects.filter(({ metadata: { ownerReferences: owners = [] } }) => {
    return owners.length === 0 || owners.some(({ uid }) => uids.has(uid));
  });
  return kept.length === objects.length ? kept : collected(kept);
}

function lasting({ metadata, ...rest }: KubeObject & { status?: unknown }): object {
  const { name, labels, annotations = {}, ownerReferences, deletionTimestamp, finalizers } = metadata;
  const { 'windlass.dev/applied-hash': _hash, ...kept } = annotations;
  // There is no kubelet: what a Deployment says of itself the tests have written.
  const { status: _status, ...withoutStatus } = rest;
  const own = rest.kind === 'Deployment' ? withoutStatus : rest;
  return { ...own, name, labels, annotations: kept, ownerReferences, deletionTimestamp, finalizers };
}

const COUNTERS: Record<string, string[]> = {
  meta: ['id', 'opened', 'bytes', 'quota', 'unfinished', 'rate', 'tokens', 'filled', 'v', 'minute', 'ends'],
  wf: ['vt', 'last'],
  check: ['key', 'request', 'asked', 'answer', 'answered'],
};

function withoutCounters(key: string, value: unknown): unknown {
  const counters = COUNTERS[key.split(':', 1)[0] ?? ''];
  if (counters === undefined || typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).filter(([field]) => !counters.includes(field)));
}

/** What is different in each project, and the word for it; the longest first. */
function wordsOf(objects: KubeObject[], { namespace, uid }: Project): [string, string][] {
  const words: [string, string][] = [
    [namespace, 'PROJECT'],
    [uid, 'PROJECT-UID'],
  ];
  for (const { kind, metadata } of objects)
    words.push([metadata.uid ?? '', `UID-OF-${kind}-${metadata.name}`]);
  const secretOf = (wanted: string): Secret | undefined =>
    objects.find(({ kind, metadata }) => kind === 'Secret' && metadata.name === wanted);
  for (const entry of Object.keys(secretOf(WEBHOOKS)?.data ?? {}))
    words.push([parseEntryName(entry)?.material ?? entry, 'MATERIAL']);
  const { username = '', password = '', [CALLBACK_KEYS]: callbackKeys = '' } = secretOf(POOL)?.data ?? {};
  words.push(...wordsOfCallbacks(callbackKeys));
  if (password !== '') {
    const account = { username: plain(username), password: plain(password) };
    words.push(
      [username, 'USERNAME'],
      [password, 'PASSWORD'],
      [sha256(account.password), 'HASH-OF-PASSWORD'],
    );
    words.push([sha256(canonicalJson(account)).slice(0, 16), 'HASH-OF-ACCOUNT']);
  }
  return words.toSorted(([a], [b]) => b.length - a.length);
}

/** `encoded`: the entry of the Secret; empty where there is none. */
function wordsOfCallbacks(encoded: string): [string, string][] {
  if (encoded === '') return [];
  const words = parseKeys(plain(encoded)).flatMap(({ id, key }): [string, string][] => [
    [id, 'ID-OF-CALLBACK-KEY'],
    [key, 'CALLBACK-KEY'],
  ]);
  return [[encoded, 'CALLBACK-KEYS'], ...words];
}

const plain = (encoded: string): string => Buffer.from(encoded, 'base64').toString('utf8');
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

function written(line: string, known: RegExp, words: ReadonlyMap<string, string>): string {
  return (
    line
      .replaceAll(known, (value) => words.get(value) ?? value)
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
      // Of objects that are gone.
      .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UID-OF-NOTHING')
      .replaceAll(/\b\d{10,}(\.\d+)?\b/g, 'NUMBER')
      // Whether a summary came and went before its workflow was removed depends on the order of events.
      .replaceAll(/,"summaries":"0"/g, '')
      // In units of ten minutes.
      .replaceAll(/("settled\\*":\\*"|"(?:keys|replies) )\d+/g, '$1NUMBER')
      // By which the events of runs are known: they depend on the uids of objects.
      .replaceAll(/("body(?:Hash)?\\*":\\*")[0-9a-f]{64}/g, '$1HASH')
      .replaceAll(/(dk:[^:]+:|"dedupeHash\\*":\\*")[0-9a-z]{24}/g, '$1HASH')
  );
}
