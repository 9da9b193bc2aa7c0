/**
 * The gateway replicas, and the routes that each serves by its own report. Replicas with a ready endpoint
 * count, and those with a fresh Lease: traffic can reach both. A replica serves a route from the time its
 * digest agreed with the operator's, until the route or the replica's process changes. Clocks of other
 * machines are not compared: a Lease is fresh while it changes.
 */
import type { Clock } from '../../kube/clock.ts';
import { createOwnRoutes, type OwnRoutes, type RouteVersion } from './ownRoutes.ts';

/** The report in a replica's Lease. */
export type ReplicaReport = {
  /** The name of the pod. */
  replica: string;
  /** Changes when the process restarts: the new one has to load all routes. */
  process: string;
  /** The digest, as `formatDigest` writes it. */
  digest: string;
  /** The uids of routes that it answers with 503, because their verification material is missing yet. */
  waiting: ReadonlySet<string>;
};

export type Routing =
  | { kind: 'NoGateway' }
  /** `ms`: for how long replicas have been known not to serve it. */
  | { kind: 'Lagging'; replicas: string[]; ms: number }
  /**
   * `settling`: it was served, and a replica disagrees for a short time, as it does while it loads another
   * route.
   */
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

/** How long a Lease counts after its last change, in milliseconds. */
export const FRESH_MS = 15_000;
/**
 * How long a replica may disagree about a route that it served before, while it loads another route of the
 * same bucket.
 */
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

  /** Traffic reaches replicas with a ready endpoint, and those that had one a moment ago. */
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
    const ms = clock.now() - since;
    if (wasServed && ms < SETTLING_MS) return { kind: 'Served', settling: true };
    return { kind: 'Lagging', replicas: lagging.toSorted(), ms };
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

/** The symmetric difference of the sets. */
function difference(before: ReadonlySet<string>, after: ReadonlySet<string>): string[] {
  return [...new Set([...before, ...after])].filter((uid) => before.has(uid) !== after.has(uid));
}

/**
 * A replica that agrees about a bucket serves all routes in it. Returns the routes that it did not serve
 * before.
 */
function compareBucket(own: OwnRoutes, replica: Replica, bucket: number): string[] {
  const mark = own.mark(bucket);
  if (replica.agreedAt.get(bucket) === mark) return [];
  const agreed = own.agreed(bucket, replica.digest);
  if (agreed.length > 0) replica.agreedAt.set(bucket, mark);
  return agreed.filter((uid) => {
    const generation = own.generation(uid) ?? 0;
    const isNew = replica.served.get(uid) !== generation;
    replica.served.set(uid, generation);
    return isNew;
  });
}
