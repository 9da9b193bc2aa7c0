/**
 * Connections of kubeconfig files, as kubectl reads them: of several files the first entry of a name counts.
 * Tokens, certificates and passwords are read here; a user with `exec` or `auth-provider` is left to
 * client-node, whose load takes a second.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';
import { signedInConnection, type KubeConnection } from './config.ts';

/** A context and how its cluster is reached. */
export type KubeContext = { name: string; connection: KubeConnection };

/** The files name no usable cluster; the message says what is wrong and what to do. */
export class KubeconfigError extends Error {
  override readonly name = 'KubeconfigError';
}

type Fields = Record<string, unknown>;
type Entry = { name: string; fields: Fields };
type Merged = { current: string; contexts: Entry[]; clusters: Entry[]; users: Entry[] };

/** Fields with the path of a file, which is relative to its kubeconfig. */
const PATHS = ['certificate-authority', 'client-certificate', 'client-key', 'tokenFile'];

/**
 * The current context of the files, or the one with this name. Files that do not exist are left out.
 * @throws KubeconfigError if there is no such context, or its cluster cannot be reached this way
 */
export async function readContext(files: readonly string[], context?: string): Promise<KubeContext> {
  const merged = mergeFiles(files);
  const name = context ?? merged.current;
  const found = merged.contexts.find((entry) => entry.name === name);
  if (!found) throw noContext(files, merged, name);
  const cluster = entryNamed(merged.clusters, textOf(found.fields, 'cluster'));
  const user = entryNamed(merged.users, textOf(found.fields, 'user')) ?? { name: '', fields: {} };
  if (!cluster)
    throw new KubeconfigError(
      `context ${name} of the kubeconfig names the cluster "${textOf(found.fields, 'cluster')}", which the kubeconfig does not have`,
    );
  if (cluster.fields['proxy-url'] !== undefined)
    throw new KubeconfigError(
      `cluster ${cluster.name} of the kubeconfig has a proxy-url, which is not supported: use a context without one`,
    );
  if (user.fields['as'] !== undefined)
    throw new KubeconfigError(
      `user ${user.name} of the kubeconfig acts as another user (as), which is not supported: use a context of that user`,
    );
  const namespace = textOf(found.fields, 'namespace');
  const connection = await connectionOf(name, cluster.fields, user.fields);
  return { name, connection: { ...connection, ...(namespace !== '' && { namespace }) } };
}

/** The names of all contexts in the files, in their order. @throws KubeconfigError */
export function contextNames(files: readonly string[]): string[] {
  return mergeFiles(files).contexts.map(({ name }) => name);
}

function noContext(files: readonly string[], { contexts }: Merged, name: string): KubeconfigError {
  const names = contexts.map((entry) => entry.name).join(', ');
  if (names === '') {
    const why = files.map((file) => `${file} ${existsSync(file) ? 'has no context' : 'does not exist'}`);
    return new KubeconfigError(
      `there is no cluster to talk to: ${why.join(', ')}. Name a file with --kubeconfig or KUBECONFIG`,
    );
  }
  return new KubeconfigError(
    name === ''
      ? `the kubeconfig has no current context: choose one with --context: ${names}`
      : `the kubeconfig has no context "${name}": choose one of ${names}`,
  );
}

function mergeFiles(files: readonly string[]): Merged {
  const merged: Merged = { current: '', contexts: [], clusters: [], users: [] };
  for (const file of files) {
    const fields = readFile(file);
    if (merged.current === '') merged.current = textOf(fields, 'current-context');
    addEntries(merged.contexts, fields['contexts'], 'context', file);
    addEntries(merged.clusters, fields['clusters'], 'cluster', file);
    addEntries(merged.users, fields['users'], 'user', file);
  }
  return merged;
}

function readFile(file: string): Fields {
  try {
    const value: unknown = parse(readFileSync(file, 'utf8'));
    if (isFields(value)) return value;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return {};
    if (code !== undefined && code.startsWith('E'))
      throw new KubeconfigError(`cannot read the kubeconfig ${file}: ${code}`, { cause: error });
  }
  throw new KubeconfigError(`${file} is not a kubeconfig: it must be YAML with clusters, users and contexts`);
}

function addEntries(entries: Entry[], list: unknown, member: string, file: string): void {
  for (const each of Array.isArray(list) ? (list as unknown[]) : []) {
    if (!isFields(each) || typeof each['name'] !== 'string') continue;
    const { name } = each;
    if (entries.some((entry) => entry.name === name)) continue;
    const fields = isFields(each[member]) ? each[member] : {};
    entries.push({ name, fields: withPaths(fields, file) });
  }
}

function withPaths(fields: Fields, file: string): Fields {
  const paths = PATHS.filter((name) => typeof fields[name] === 'string');
  const found = paths.map((name) => [name, resolve(dirname(file), String(fields[name]))]);
  return { ...fields, ...(Object.fromEntries(found) as Fields) };
}

async function connectionOf(context: string, cluster: Fields, user: Fields): Promise<KubeConnection> {
  const server = textOf(cluster, 'server').replace(/\/+$/, '');
  if (!URL.canParse(server))
    throw new KubeconfigError(`context ${context} of the kubeconfig has no address of an API server`);
  if (user['exec'] !== undefined || user['auth-provider'] !== undefined)
    return signIn(context, cluster, user);
  const ca = dataOf(cluster, 'certificate-authority');
  const serverName = textOf(cluster, 'tls-server-name');
  return {
    server,
    ...(ca !== undefined && { ca }),
    auth: authOf(user),
    ...(serverName !== '' && { serverName }),
    insecureSkipTlsVerify: cluster['insecure-skip-tls-verify'] === true,
  };
}

async function signIn(context: string, cluster: Fields, user: Fields): Promise<KubeConnection> {
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': context,
    contexts: [{ name: context, context: { cluster: context, user: context } }],
    clusters: [{ name: context, cluster }],
    users: [{ name: context, user }],
  };
  try {
    return await signedInConnection(JSON.stringify(config));
  } catch (error) {
    const { message } = error as Error;
    throw new KubeconfigError(`cannot sign in to context ${context}: ${message}`, { cause: error });
  }
}

function authOf(user: Fields): KubeConnection['auth'] {
  const cert = dataOf(user, 'client-certificate');
  const key = dataOf(user, 'client-key');
  const token = tokenOf(user);
  return {
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(token !== undefined && { token: () => token }),
  };
}

/** As kubectl does, a file counts before the token beside it. */
function tokenOf(user: Fields): string | undefined {
  const file = textOf(user, 'tokenFile');
  const token = file === '' ? textOf(user, 'token') : textIn(file).trim();
  return token === '' ? undefined : token;
}

/** The PEM in `<name>-data` in base64, or in the file that `<name>` names. */
function dataOf(fields: Fields, name: string): string | undefined {
  const data = textOf(fields, `${name}-data`);
  if (data !== '') return Buffer.from(data, 'base64').toString('utf8');
  const file = textOf(fields, name);
  return file === '' ? undefined : textIn(file);
}

function textIn(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    throw new KubeconfigError(`cannot read ${file}, which the kubeconfig names: ${code}`, { cause: error });
  }
}

const entryNamed = (entries: readonly Entry[], name: string): Entry | undefined =>
  entries.find((entry) => entry.name === name);

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(fields: Fields, name: string): string {
  const value = fields[name];
  return typeof value === 'string' ? value : '';
}
