/**
 * Counts what an operator writes for one project, to the API server and to the run store together, and lets
 * only the first so many through. What comes after them is refused and changes nothing, so that killing the
 * operator then leaves the project as killing it right after its k-th write would, however many projects are
 * cut off like that at once.
 */
import type { SeenRequest } from '../cluster/kubeApiFaults.ts';

type Project = { namespace: string; uid: string };

export type WriteGate = {
  /** Counts from now on; of what follows, `most` writes pass. */
  arm(project: Project, most?: number): void;
  /** The writes since then that passed or were refused. */
  writes(project: Project): string[];
  isCutOff(project: Project): boolean;
  /** Everything passes from now on, and nothing is counted. */
  open(): void;
  passesKube(request: SeenRequest): boolean;
  passesRedis(command: string[]): boolean;
};

type Count = { most: number; writes: string[] };

/** Commands that change nothing. */
const READS = new Set(
  'hello auth client ping info type scan time exists get hget hmget hgetall hvals zcard zscore zrange zrangebylex smembers lrange'.split(
    ' ',
  ),
);

export function createWriteGate(): WriteGate {
  const byNamespace = new Map<string, Count>();
  const byUid = new Map<string, Count>();

  function passes(count: Count | undefined, what: string): boolean {
    if (count === undefined) return true;
    count.writes.push(what);
    return count.writes.length <= count.most;
  }

  return {
    arm: ({ namespace, uid }, most = Infinity) => {
      const count = { most, writes: [] };
      byNamespace.set(namespace, count);
      byUid.set(uid, count);
    },
    writes: ({ uid }) => byUid.get(uid)?.writes ?? [],
    isCutOff: ({ uid }) => {
      const count = byUid.get(uid);
      return count !== undefined && count.writes.length > count.most;
    },
    open: () => {
      byNamespace.clear();
      byUid.clear();
    },
    passesKube: ({ method, path }) => {
      if (method === 'GET') return true;
      const namespace = /\/namespaces\/([^/]+)\//.exec(path)?.[1] ?? '';
      const count = byNamespace.get(namespace);
      // Events are told in the background, and nothing follows from them.
      if (count !== undefined && path.includes('/events')) return count.writes.length <= count.most;
      return passes(count, `${method} ${path.split('/').slice(-2).join('/')}`);
    },
    passesRedis: ([verb = '', ...args]) => {
      const name = verb.toLowerCase();
      const subject = name === 'acl' ? args[1] : args.find((arg) => arg.startsWith('wl:{'));
      const uid = /^(?:wl:\{|windlass-pool-)([^}]+)/.exec(subject ?? '')?.[1];
      const count = byUid.get(uid ?? '');
      if (READS.has(name) || args[0]?.toLowerCase() === 'getuser') return true;
      // What an operator does every few seconds, whatever happens, is no step of what is done.
      const isTuning = args.includes('quota') || args.includes('rate');
      if (isTuning && count !== undefined) return count.writes.length <= count.most;
      return passes(count, `${name} ${subject?.replace(/^wl:\{[^}]+\}:/, '')}`);
    },
  };
}
