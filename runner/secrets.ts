/**
 * Secrets of the project by name, kept in memory. Guarantees that a Secret is asked for at most every 5 s,
 * however many steps want it, once more in that time for logins that are refused, and again after changes of
 * credentials, of many at the same time once; and that what was read once stays usable while the API server
 * is away.
 */
import type { KubeClient } from '../kube/client.ts';
import type { Log } from '../kube/log.ts';
import { secrets } from '../kube/resource.ts';

/** Keys and values of a Secret. The same object as long as they are the same. */
export type SecretValues = Readonly<Record<string, string>>;

export type SecretReader = {
  /**
   * The Secret, read anew if what is known is older than that; undefined when there is none. Throws when
   * nothing is known.
   */
  read(name: string, mostAgeMs: number): Promise<SecretValues | undefined>;
  /** The Secret, read anew whatever its age, since it was refused; at most every 5 s. */
  again(name: string): Promise<SecretValues | undefined>;
  /** The Secret is read anew the next time, whatever its age. */
  forget(name: string): void;
};

type Entry = {
  values: SecretValues | undefined;
  error: unknown;
  readAt: number;
  pending: Promise<void> | undefined;
  /** What is pending has yet to begin, after one that goes on. */
  isQueued: boolean;
  /** When it was last read because it was refused. */
  againAt: number;
};

const LEAST_AGE_MS = 5_000;
const READ_TIMEOUT_MS = 10_000;

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
      // The step that wanted it says only that it cannot be read; this is for whoever grants the rights.
      log?.warn({ namespace, secret: name, err: error }, 'a Secret cannot be read');
      entry.error = error;
    }
    entry.readAt = now();
  }

  /**
   * One reading after the other, so that the later one is what counts; and no more than one that waits, which
   * sees all there is by then.
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
    const entry: Entry = {
      values: undefined,
      error: undefined,
      readAt: -Infinity,
      pending: undefined,
      isQueued: false,
      againAt: -Infinity,
    };
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
    forget: (name) => {
      const entry = entries.get(name);
      if (!entry) return;
      entry.readAt = -Infinity;
      // What is being read just now may be older than what it is forgotten for.
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
