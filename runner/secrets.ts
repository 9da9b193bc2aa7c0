/**
 * A cache of the project's Secrets. Guarantees that a Secret is read at most every 5 s however many steps use
 * it, once more in that time after a rejected login, and after changes of credentials, once for concurrent
 * changes. A cached Secret stays usable while the API server is unavailable.
 */
import type { KubeClient } from '../kube/client.ts';
import type { Log } from '../kube/log.ts';
import { secrets } from '../kube/resource.ts';

/** The keys and values of a Secret. The same object as long as they do not change. */
export type SecretValues = Readonly<Record<string, string>>;

export type SecretReader = {
  /**
   * The Secret, read again if the cached one is older; undefined if it does not exist. Throws if it was never
   * read.
   */
  read(name: string, mostAgeMs: number): Promise<SecretValues | undefined>;
  /** The Secret, read again whatever its age, because it was rejected; at most every 5 s. */
  again(name: string): Promise<SecretValues | undefined>;
  /** The Secret, read again now. Throws if it cannot be read: no cached value takes its place. */
  current(name: string): Promise<SecretValues | undefined>;
  /** Makes the next use read the Secret again. */
  forget(name: string): void;
};

type Entry = {
  values: SecretValues | undefined;
  error: unknown;
  readAt: number;
  pending: Promise<void> | undefined;
  /** Whether the pending read waits for another read. */
  isQueued: boolean;
  /** When it was last read because it was rejected. */
  againAt: number;
};

const LEAST_AGE_MS = 5_000;
const READ_TIMEOUT_MS = 10_000;

const newEntry = (): Entry => ({
  values: undefined,
  error: undefined,
  readAt: -Infinity,
  pending: undefined,
  isQueued: false,
  againAt: -Infinity,
});

export type SecretReaderOptions = { now?: () => number; log?: Log };

export function createSecretReader(
  client: Pick<KubeClient, 'find'>,
  namespace: string,
  { now = () => performance.now(), log }: SecretReaderOptions = {},
): SecretReader {
  const entries = new Map<string, Entry>();

  async function load(name: string, entry: Entry): Promise<void> {
    try {
      const secret = await client.find(secrets, { namespace, name }, { timeoutMs: READ_TIMEOUT_MS });
      const values = secret && decoded(secret.data ?? {});
      if (!isSame(values, entry.values)) entry.values = values;
      entry.error = undefined;
    } catch (error) {
      // The step reports only that the Secret cannot be read; the log has the cause, for administrators.
      log?.warn({ namespace, secret: name, err: error }, 'reading a Secret failed');
      entry.error = error;
    }
    entry.readAt = now();
  }

  /**
   * Starts a read after the current one, so that the later result counts. At most one read waits, which sees
   * all changes until then.
   */
  function begin(name: string, entry: Entry): void {
    if (entry.isQueued) return;
    entry.isQueued = entry.pending !== undefined;
    const pending = (entry.pending ?? Promise.resolve()).then(() => {
      entry.isQueued = false;
      return load(name, entry);
    });
    entry.pending = pending;
    void settle(entry, pending);
  }

  async function settle(entry: Entry, pending: Promise<void>): Promise<void> {
    await pending;
    if (entry.pending === pending) entry.pending = undefined;
  }

  function entryOf(name: string): Entry {
    const known = entries.get(name);
    if (known) return known;
    const entry = newEntry();
    entries.set(name, entry);
    return entry;
  }

  async function valuesOf(entry: Entry): Promise<SecretValues | undefined> {
    await entry.pending;
    if (entry.values === undefined && entry.error !== undefined) throw entry.error;
    return entry.values;
  }

  return {
    again: (name) => {
      const entry = entryOf(name);
      if (now() - entry.againAt >= LEAST_AGE_MS) {
        entry.againAt = now();
        begin(name, entry);
      }
      return valuesOf(entry);
    },
    read: (name, mostAgeMs) => {
      const entry = entryOf(name);
      const isUsable = entry.values !== undefined && entry.error === undefined;
      const limit = isUsable ? Math.max(mostAgeMs, LEAST_AGE_MS) : LEAST_AGE_MS;
      if (now() - entry.readAt >= limit && !entry.pending) begin(name, entry);
      return valuesOf(entry);
    },
    current: async (name) => {
      const entry = entryOf(name);
      // The current read may have started before a change.
      begin(name, entry);
      await entry.pending;
      if (entry.error !== undefined) throw entry.error;
      return entry.values;
    },
    forget: (name) => {
      const entry = entries.get(name);
      if (!entry) return;
      entry.readAt = -Infinity;
      // The current read may have started before the change.
      if (entry.pending) begin(name, entry);
    },
  };
}

function decoded(data: Record<string, string>): SecretValues {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
  );
}

function isSame(a: SecretValues | undefined, b: SecretValues | undefined): boolean {
  if (!a || !b) return a === b;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && a[key] === b[key])
  );
}
