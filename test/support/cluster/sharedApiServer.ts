/**
 * One API server for all files that a test worker executes, one after the other: a start with our CRDs takes
 * two seconds of processor time. Each file finds our CRDs and nothing of the files before it.
 */
import { rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import { createClient, type KubeClient } from '../../../kube/client.ts';
import { namespaces } from '../../../kube/resource.ts';
import { pollUntil } from '../time/poll.ts';
import { startApiServer, type ApiServer } from './apiserver.ts';
import { installCrds } from './crds.ts';

type Shared = {
  server: ApiServer;
  /** Restores the content of its start, and returns the keys that it deleted. */
  reset(): Promise<string[]>;
  end(): Promise<void>;
  /** When a file may use it, by `performance.now()`. */
  usableAt: number;
};

/** Only a worker executes several files. */
const IS_WORKER = process.env['VITEST_WORKER_ID'] !== undefined;
/** Keys of objects that kube-apiserver writes for itself at any time. */
const OF_THE_SERVER =
  /^\/registry\/(apiregistration\.k8s\.io|masterleases|ipaddresses|ranges)\/|\/(leases|configmaps)\/kube-system\//;
const SYSTEM_NAMESPACES = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];
const POLICIES = '/registry/validatingadmissionpolic';
/** kube-apiserver reads admission policies once a second, and nothing tells when it has. */
const POLICIES_MS = 2_000;
/** etcd allows 128 operations in a transaction. */
const MAX_OPERATIONS = 100;

let free: Shared | undefined;

/**
 * The server of this worker, with our CRDs. `stop` resets it for the next file; the server ends with the
 * process. Where it is in use already, or the process is no worker, the result is another server, which
 * `stop` ends. A file that ends or kills the API server, or gives it arguments, starts its own.
 */
export async function sharedApiServer(): Promise<ApiServer> {
  const shared = takeFree() ?? (await startShared());
  await delay(Math.max(0, shared.usableAt - performance.now()));
  let stopped: Promise<void> | undefined;
  return { ...shared.server, stop: () => (stopped ??= release(shared)) };
}

function takeFree(): Shared | undefined {
  const taken = free;
  free = undefined;
  return taken;
}

async function release(shared: Shared): Promise<void> {
  if (!IS_WORKER || free) return shared.end();
  try {
    const deleted = await shared.reset();
    if (deleted.some((key) => key.startsWith(POLICIES))) shared.usableAt = performance.now() + POLICIES_MS;
  } catch (error) {
    await shared.end();
    throw error;
  }
  if (free) return shared.end();
  free = shared;
}

async function startShared(): Promise<Shared> {
  const server = await startApiServer();
  const onSignal = (): void => endNow(server);
  if (IS_WORKER) process.once('SIGTERM', onSignal);
  const end = async (): Promise<void> => {
    process.removeListener('SIGTERM', onSignal);
    await server.stop();
  };
  const client = createClient(server.connection);
  try {
    await installCrds(client);
    await pollUntil('the objects of the API server', () => hasOwnObjects(client), { timeoutMs: 30_000 });
    return { server, end, reset: await takeSnapshot(server.etcdURL), usableAt: 0 };
  } catch (error) {
    await end();
    throw error;
  } finally {
    await client.close();
  }
}

/** kube-apiserver is ready before it has made all of them. */
async function hasOwnObjects(client: KubeClient): Promise<boolean> {
  const { items } = await client.list(namespaces);
  const names = new Set(items.map(({ metadata }) => metadata.name));
  const answer = await client.raw('GET', '/api/v1/namespaces/default/services');
  return (
    SYSTEM_NAMESPACES.every((name) => names.has(name)) && JSON.stringify(answer).includes('"kubernetes"')
  );
}

/** Vitest ends a worker so, in which case no listener of `exit` is called. */
function endNow({ parts, logFolder }: ApiServer): void {
  for (const part of Object.values(parts).toReversed()) process.kill(part.pid(), 'SIGKILL');
  rmSync(logFolder, { recursive: true, force: true, maxRetries: 5 });
  process.kill(process.pid, 'SIGTERM');
}

/** A key with its value in base64, as etcd's JSON has both. */
type Entry = { key: string; value: string; mod_revision: string };

/** Returns a function that gives etcd the content that it has now. */
async function takeSnapshot(etcdURL: string): Promise<Shared['reset']> {
  const call = async (method: string, body: object): Promise<{ kvs?: Entry[] }> => {
    const { statusCode, body: answer } = await request(`${etcdURL}/v3/kv/${method}`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    if (statusCode !== 200) throw new Error(`etcd answered ${statusCode} to ${method}: ${text}`);
    return JSON.parse(text) as { kvs?: Entry[] };
  };
  const read = async (keysOnly: boolean): Promise<Map<string, Entry>> => {
    const range = { key: btoa('/registry/'), range_end: btoa('/registry0'), keys_only: keysOnly };
    const { kvs = [] } = await call('range', range);
    const ours = kvs.filter(({ key }) => !OF_THE_SERVER.test(atob(key)));
    return new Map(ours.map((entry) => [entry.key, entry]));
  };
  const kept = await read(false);
  return async () => {
    const now = await read(true);
    const added = [...now.keys()].filter((key) => !kept.has(key));
    const changed = [...kept.values()].filter(
      ({ key, mod_revision: revision }) => now.get(key)?.mod_revision !== revision,
    );
    for (let from = 0; from < added.length; from += MAX_OPERATIONS) {
      const success = added
        .slice(from, from + MAX_OPERATIONS)
        .map((key) => ({ request_delete_range: { key } }));
      await call('txn', { success });
    }
    for (const { key, value } of changed) await call('put', { key, value });
    if (changed.length > 0)
      for (const [key, { mod_revision }] of await read(true)) {
        const entry = kept.get(key);
        if (entry) kept.set(key, { ...entry, mod_revision });
      }
    return added.map((key) => atob(key));
  };
}
