/** Follows which server of a Redis Cluster has which slots. */
import { nameOf, urlOf, type RunStoreURL, type ServerAddress } from '../api/runStoreURL.ts';
import { askServer, type Asked, type ClusterProblem, type ClusterView } from './clusterView.ts';
import {
  closeRedis,
  createProblemReport,
  openRedis,
  untilReadyWithin,
  type RunStoreOptions,
} from './redis.ts';
import type { ServerCalls } from './replicas.ts';
import { createSender } from './sender.ts';
import { createTrustReport } from './trust.ts';

export type ClusterPlace = Extract<RunStoreURL, { topology: 'cluster' }>;

/** A server that is connected. */
type Connected = ServerCalls & { address: ServerAddress };

type WatchOptions = {
  place: ClusterPlace;
  options: RunStoreOptions;
  /** The servers that would answer now, as far as is known. */
  connected: () => readonly Connected[];
  /** Whether all servers that are used are connected. */
  isWell: () => boolean;
  onView: (view: ClusterView) => void;
};

export type ClusterWatch = {
  /** Asks soon, because the slots may have moved. */
  ask: () => void;
  close: () => void;
};

const ASK_EVERY_MS = 5_000;
/** While a server is away, or nothing is known. */
const ASK_AGAIN_MS = 500;
const LEAST_PAUSE_MS = 100;
/** After so long in which nobody has known a newer view, the cluster was created again. */
const CREATED_AGAIN_MS = 10_000;
/** For the connection to a server that is asked once, and for its answer. */
const ASK_MS = 1_000;

/**
 * Asks one server after the other until one knows a view that is not older than the one before: first those
 * that are connected, then all that are known. Every five seconds, and at once where a call or a connection
 * failed. A view of an earlier epoch counts only while no server is connected, or once nobody has known
 * another one for ten seconds: the cluster was created again.
 */
export function watchCluster({ place, options, connected, isWell, onView }: WatchOptions): ClusterWatch {
  const report = createProblemReport(options.log, 'run store: no cluster found');
  const reportDistrust = createTrustReport(options.caFile, options.log);
  const askOne = (address: ServerAddress) =>
    askOnce(address, { ...options, isTLS: place.isTLS, onError: reportDistrust });
  let view: ClusterView | undefined;
  let isAsking = false;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  let askedAt = -Infinity;

  const olderViews = createOlderViews();
  const isCurrent = ({ epoch }: ClusterView): boolean => {
    if (view === undefined || epoch >= view.epoch || connected().length === 0) return true;
    olderViews.note();
    return olderViews.areCurrent();
  };
  const check = async (): Promise<void> => {
    isAsking = true;
    const asked = await askUntil(askAll(place, view, connected(), askOne), isCurrent);
    isAsking = false;
    askedAt = performance.now();
    olderViews.endRound('view' in asked);
    if (isClosed) return;
    if ('view' in asked) onView((view = asked.view));
    else report(asked.problem);
    schedule(isWell() && 'view' in asked ? pauseMs(options) : ASK_AGAIN_MS);
  };
  const schedule = (ms: number): void => {
    clearTimeout(timer);
    timer = setTimeout(() => void check(), ms);
  };
  void check();
  return {
    ask: () => {
      if (!isAsking && !isClosed) schedule(Math.max(0, askedAt + LEAST_PAUSE_MS - performance.now()));
    },
    close: () => {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

/** Follows since when all servers that answer have known older views only. */
function createOlderViews() {
  let since: number | undefined;
  let isNoted = false;
  return {
    /** In this round of questions a server knows an older view. */
    note: (): void => void (isNoted = true),
    /** Whether they are what is true now, because the cluster was created again. */
    areCurrent: (): boolean => since !== undefined && performance.now() - since > CREATED_AGAIN_MS,
    /** `isFound`: whether the round has found a view that counts. */
    endRound: (isFound: boolean): void => {
      since = isFound || !isNoted ? undefined : (since ?? performance.now());
      isNoted = false;
    },
  };
}

/** Not all programs at the same time. */
function pauseMs({ askServersEveryMs = ASK_EVERY_MS }: RunStoreOptions): number {
  return askServersEveryMs * (0.8 + Math.random() * 0.2);
}

async function askUntil(
  questions: readonly (() => Promise<Asked>)[],
  isCurrent: (view: ClusterView) => boolean,
): Promise<Asked> {
  let problem: ClusterProblem = 'no server answers';
  for (const ask of questions) {
    const asked = await ask();
    if ('view' in asked && isCurrent(asked.view)) return asked;
    if ('problem' in asked && asked.problem !== 'no server answers') problem = asked.problem;
  }
  return { problem };
}

function askAll(
  place: ClusterPlace,
  view: ClusterView | undefined,
  connected: readonly Connected[],
  askOne: (address: ServerAddress) => Promise<Asked>,
): (() => Promise<Asked>)[] {
  const names = new Set(connected.map(({ address }) => nameOf(address)));
  const known = (view?.ranges ?? []).flatMap(({ primary, replicas }) => [primary, ...replicas]);
  const others = new Map([...place.members, ...known].map((address) => [nameOf(address), address]));
  for (const name of names) others.delete(name);
  return [
    ...shuffled(connected).map((server) => () => askServer(server, server.address.host)),
    ...shuffled([...others.values()]).map((address) => () => askOne(address)),
  ];
}

function shuffled<T>(all: readonly T[]): T[] {
  return all
    .map((one) => ({ one, at: Math.random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ one }) => one);
}

type AskOptions = RunStoreOptions & { isTLS: boolean; onError: (error: Error) => void };

/** By a connection of its own. Nothing is changed, so that programs ask also while they may send nothing. */
async function askOnce(
  address: ServerAddress,
  { isTLS, onError, log: _log, ...silent }: AskOptions,
): Promise<Asked> {
  const redis = openRedis({ ...silent, url: urlOf(address, isTLS) });
  let problem: ClusterProblem = 'no server answers';
  redis.on('error', (error: Error) => {
    onError(error);
    if (error.name === 'ReplyError') problem = 'servers refuse the question';
  });
  try {
    await untilReadyWithin(redis, ASK_MS);
    const { command } = createSender(redis, { log: undefined, timeoutMs: ASK_MS });
    return await askServer({ command: (name, ...args) => command(name, args) }, address.host);
  } catch {
    return { problem };
  } finally {
    await closeRedis(redis);
  }
}
