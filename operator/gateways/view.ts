/**
 * Which gateway replicas there are, and which routes each of them has said that it serves. Replicas that have a ready
 * endpoint count, and those whose Lease is fresh: traffic can reach both. A route counts as served by a replica from the
 * moment at which the replica's digest agreed with ours, until the route changes or the replica's process does.
 * No clock of another machine is compared: a Lease is fresh while we see it change.
 */
import type { Clock } from '../../kube/clock.ts';
import { createOwnRoutes, type OwnRoutes, type RouteVersion } from './ownRoutes.ts';

/** What a replica's Lease says. */
export type ReplicaReport = {
  /** The name of the pod. */
  replica: string;
  /** Changes when the process does: what the former one served, the new one has to learn. */
  process: string;
  /** The digest, as `formatDigest` writes it. */
  digest: string;
  /** The uids of routes that it knows and answers with 503, because what verifies their callers is not there yet. */
  waiting: ReadonlySet<string>;
};

export type Routing =
  | { kind: 'NoGateway' }
  | { kind: 'Lagging'; replicas: string[] }
  /** `settling`: it was served, and a replica has disagreed for so short a time that it may just have learned of another route. */
  | { kind: 'Served'; settling: boolean };

/** The uids of routes that another replica serves now, or `all` when replicas came or went. */
export type Changed = readonly string[] | 'all';

export type GatewayView = {
  setRoute(route: RouteVersion): void;
  removeRoute(uid: string): void;
  setReport(report: ReplicaReport): void;
  removeReport(replica: string): void;
  /** The replicas that have a ready endpoint. */
  setReady(replicas: ReadonlySet<string>): void;
  /** Whether every replica serves the route. `wasServed`: it did when the status was last written. */
  routing(route: RouteVersion, wasServed: boolean): Routing;
  onChange(handler: (changed: Changed) => void): void;
};

type Replica = {
  process: string;
  digest: string;
  waiting: ReadonlySet<string>;
  seenAt: number;
  /** The generation of each route that it has served. */
  served: Map<string, number>;
  /** The mark of each bucket when it last agreed, so that what did not change is not compared again. */
  agreedAt: Map<number, bigint>;
};

/** How long a Lease counts after we last saw it change. */
export const FRESH_MS = 15_000;
/** How long a replica may disagree about a route that it served before: another route of the same bucket is on its way. */
export const SETTLING_MS = 5_000;

/** Creates a view without routes and replicas. */
export function createGatewayView(clock: Clock): GatewayView {
  const own = createOwnRoutes();
  const replicas = new Map<string, Replica>();
  const laggingSince = new Map<string, number>();
  const handlers: ((changed: Changed) => void)[] = [];
  let ready: ReadonlySet<string> = new Set();

  const tell = (changed: Changed): void => {
    if (changed.length > 0) for (const handler of handlers) handler(changed);
  };
  const isFresh = (replica: Replica): boolean => clock.now() - replica.seenAt < FRESH_MS;
  const isServedBy = (name: string, { uid, generation }: RouteVersion): boolean => {
    const replica = replicas.get(name);
    return replica?.served.get(uid) === generation && !replica.waiting.has(uid);
  };

  function compareAll(bucket: number): void {
    tell([...new Set([...replicas.values()].flatMap((replica) => compareBucket(own, replica, bucket)))]);
  }

  /** Traffic reaches whoever has a ready endpoint, and whoever may have had one a moment ago. */
  function members(): string[] {
    const fresh = [...replicas].filter(([, replica]) => isFresh(replica)).map(([name]) => name);
    return [...new Set([...ready, ...fresh])];
  }

  function setReport({ replica: name, ...report }: ReplicaReport): void {
    const { process, digest } = report;
    const known = replicas.get(name);
    const isSameProcess = known?.process === process;
    const replica = {
      ...report,
      seenAt: clock.now(),
      served: isSameProcess ? known.served : new Map<string, number>(),
      agreedAt: isSameProcess ? known.agreedAt : new Map<number, bigint>(),
    };
    replicas.set(name, replica);
    for (const [other, state] of replicas) if (!isFresh(state) && !ready.has(other)) replicas.delete(other);
    tell(difference(known?.waiting ?? new Set(), report.waiting));
    if (isSameProcess && known.digest === digest) return;
    tell(own.buckets().flatMap((bucket) => compareBucket(own, replica, bucket)));
  }

  function routing(route: RouteVersion, wasServed: boolean): Routing {
    if (ready.size === 0) return { kind: 'NoGateway' };
    const lagging = members().filter((name) => !isServedBy(name, route));
    if (lagging.length === 0) {
      laggingSince.delete(route.uid);
      return { kind: 'Served', settling: false };
    }
    const since = laggingSince.get(route.uid) ?? clock.now();
    laggingSince.set(route.uid, since);
    if (wasServed && clock.now() - since < SETTLING_MS) return { kind: 'Served', settling: true };
    return { kind: 'Lagging', replicas: lagging.toSorted() };
  }

  return {
    setRoute: (route) => {
      const bucket = own.set(route);
      if (bucket !== undefined) compareAll(bucket);
    },
    removeRoute: (uid) => {
      const bucket = own.remove(uid);
      laggingSince.delete(uid);
      for (const { served, agreedAt } of replicas.values()) {
        served.delete(uid);
        agreedAt.delete(bucket);
      }
      compareAll(bucket);
    },
    setReport,
    removeReport: (name) => {
      if (replicas.delete(name)) tell('all');
    },
    setReady: (names) => {
      const isSame = names.size === ready.size && [...names].every((name) => ready.has(name));
      ready = names;
      if (!isSame) tell('all');
    },
    routing,
    onChange: (handler) => {
      handlers.push(handler);
    },
  };
}

/** What is in one of the sets alone. */
function difference(before: ReadonlySet<string>, after: ReadonlySet<string>): string[] {
  return [...new Set([...before, ...after])].filter((uid) => before.has(uid) !== after.has(uid));
}

/** Where a replica agrees about a bucket it serves all routes in it. Returns those of which that is news. */
function compareBucket(own: OwnRoutes, replica: Replica, bucket: number): string[] {
  const mark = own.mark(bucket);
  if (replica.agreedAt.get(bucket) === mark) return [];
  const agreed = own.agreed(bucket, replica.digest);
  if (agreed.length > 0) replica.agreedAt.set(bucket, mark);
  return agreed.filter((uid) => {
    const generation = own.generation(uid) ?? 0;
    const isNews = replica.served.get(uid) !== generation;
    replica.served.set(uid, generation);
    return isNews;
  });
}
