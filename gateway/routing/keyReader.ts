/**
 * Reads verification keys by name from the one Secret of each project, when a route names an entry of it. A
 * change of keys changes the route, so the gateway needs no right to list or watch Secrets, and two watches
 * need no order. Failed reads are retried while the entry is wanted.
 */
import { decodeKeys, WEBHOOKS } from '../../api/webhookAuth.ts';
import { backoffDelay, type Backoff } from '../../kube/backoff.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { Log } from '../../kube/log.ts';
import { secrets, type Secret } from '../../kube/resource.ts';

export type Keys = readonly Uint8Array[];

/** A wanted entry. `onRead` is called after each read, until the entry is found or dropped. */
export type Wanted = { namespace: string; entry: string; onRead: (keys: Keys | undefined) => void };

export type KeyReader = {
  /** Reads at once, and retries until the entry is found. */
  want: (wanted: Wanted) => void;
  drop: (wanted: Wanted) => void;
  /** Resolves when no project is being read. */
  settled: () => Promise<void>;
};

export type KeyReaderOptions = {
  client: Pick<KubeClient, 'find'>;
  log: Log;
  signal: AbortSignal;
};

type Entries = ReadonlyMap<string, Keys>;
type Project = { wanted: Set<Wanted>; failures: number; reading?: Promise<void>; timer?: NodeJS.Timeout };

const READ_TIMEOUT_MS = 2_000;
const BACKOFF: Backoff = { initialMs: 250, factor: 2, maxMs: 15_000, jitter: 0.5 };

export function createKeyReader({ client, log, signal }: KeyReaderOptions): KeyReader {
  const projects = new Map<string, Project>();

  /**
   * Reads one project at a time. Entries wanted during a read may be newer than its answer, and are read
   * after it.
   */
  async function read(namespace: string, project: Project): Promise<void> {
    while (project.wanted.size > 0 && !signal.aborted) {
      const asked = [...project.wanted];
      const entries = await entriesIn(namespace);
      for (const wanted of asked) {
        if (!project.wanted.has(wanted)) continue;
        const keys = entries.get(wanted.entry);
        if (keys !== undefined) project.wanted.delete(wanted);
        wanted.onRead(keys);
      }
      const isAllAsked = [...project.wanted].every((wanted) => asked.includes(wanted));
      if (project.wanted.size > 0 && isAllAsked) return later(namespace, project);
    }
    projects.delete(namespace);
  }

  function start(namespace: string, project: Project): void {
    if (project.reading !== undefined) return;
    clearTimeout(project.timer);
    project.reading = read(namespace, project).finally(() => delete project.reading);
  }

  function later(namespace: string, project: Project): void {
    project.failures += 1;
    const delay = backoffDelay(BACKOFF, project.failures);
    project.timer = setTimeout(() => start(namespace, project), delay).unref();
  }

  async function entriesIn(namespace: string): Promise<Entries> {
    try {
      const options = { timeoutMs: READ_TIMEOUT_MS, retries: 0, signal };
      return entriesOf(await client.find(secrets, { namespace, name: WEBHOOKS }, options));
    } catch (error) {
      if (!signal.aborted) log.warn({ namespace, err: error }, 'reading verification keys failed, retrying');
      return new Map();
    }
  }

  return {
    want: (wanted) => {
      const project = projects.get(wanted.namespace) ?? { wanted: new Set<Wanted>(), failures: 0 };
      projects.set(wanted.namespace, project);
      project.wanted.add(wanted);
      project.failures = 0;
      start(wanted.namespace, project);
    },
    drop: (wanted) => void projects.get(wanted.namespace)?.wanted.delete(wanted),
    settled: async () => {
      await Promise.all([...projects.values()].flatMap(({ reading }) => reading ?? []));
    },
  };
}

function entriesOf(secret: Secret | undefined): Entries {
  const found = Object.entries(secret?.data ?? {}).flatMap(([name, value]): [string, Keys][] => {
    const keys = decodeKeys(Buffer.from(value, 'base64').toString('utf8'));
    return keys === undefined ? [] : [[name, keys]];
  });
  return new Map(found);
}
