/** Connects to all servers of a run store. Keys and values are bytes, because they need not be text. */
import type { Redis } from 'ioredis';
import { nameOf, urlOf } from '../../api/runStoreURL.ts';
import { ownersOf, slotOf } from '../clusterSlots.ts';
import { Refusal } from '../callErrors.ts';
import { randomText } from '../random.ts';
import { askServer, type ClusterView } from '../clusterView.ts';
import type { ClusterPlace } from '../clusterWatch.ts';
import {
  closeRedis,
  dropConnection,
  isUp,
  locatorOf,
  openRedis,
  placeOf,
  untilReadyWithin,
} from '../redis.ts';
import { identityIn } from '../serverIdentity.ts';
import { isDistrust } from '../trust.ts';
import {
  describeClusterProblem,
  describeConnectionError,
  describeSentinelProblem,
} from './accessProblems.ts';
import { MoveProblem } from './problem.ts';

/** The URL of a run store, and the account that moves it. */
export type StoreAccess = { url: string; username?: string; password?: string; caFile?: string };

type Part = string | number | Buffer;
export type Call = readonly [name: string, ...args: Part[]];
/** The answer of a call, or the error of the server `by`. */
export type Answer = { value: unknown } | { refused: string; by: string };

/** A server that takes writes. */
export type MoveServer = {
  /** Unique within the store, which is sorted by it. */
  name: string;
  /**
   * Sends all calls at once, and resolves to their answers in the same order. Throws `MoveProblem` if the
   * server cannot be reached, or does not answer in time.
   */
  ask: (calls: readonly Call[]) => Promise<Answer[]>;
};

export type MoveServers = {
  /** For messages: `source` or `target`. */
  side: Side;
  url: string;
  /** How many replicas of each server must confirm writes. */
  replicas: number;
  all: readonly MoveServer[];
  /** The server that has a key. */
  of: (key: Buffer) => MoveServer;
  close: () => Promise<void>;
};

export type Side = 'source' | 'target';

/** How the names of the connections in `CLIENT LIST` begin. */
export const CONNECTION_PREFIX = 'windlass-store-move-';
/** The name of the connections of this process. */
export const CONNECTION_NAME = `${CONNECTION_PREFIX}${randomText(8)}`;
const READY_MS = 5_000;
/** Large values take seconds over a slow network. */
const ANSWER_MS = 60_000;

/**
 * Connects to all servers of the store. @throws MoveProblem that names a server that cannot be used, and
 * why
 */
export async function openServers(side: Side, store: StoreAccess): Promise<MoveServers> {
  const place = placeOf(store.url);
  const opened: Opened[] = [];
  const open = async (url: string, name: string): Promise<Opened> => {
    const server = openServer(side, { ...store, url }, name);
    opened.push(server);
    await server.ready();
    return server;
  };
  const close = async () => void (await Promise.all(opened.map((server) => server.close())));
  const replicas = place.topology === 'single' ? 0 : place.replicas;
  try {
    const { all, of } =
      place.topology === 'cluster' ? await openCluster(side, place, open) : await openOne(store.url, open);
    return { side, url: store.url, replicas, all, of, close };
  } catch (error) {
    await close();
    throw error;
  }
}

type Opened = MoveServer & { ready: () => Promise<void>; close: () => Promise<void> };
type Open = (url: string, name: string) => Promise<Opened>;
type Found = Pick<MoveServers, 'all' | 'of'>;

async function openOne(url: string, open: Open): Promise<Found> {
  const server = await open(url, '');
  return { all: [server], of: () => server };
}

/** Refuses a Redis Cluster with slots without a server: their projects would be missing in the target. */
async function openCluster(side: Side, place: ClusterPlace, open: Open): Promise<Found> {
  const { ranges } = await viewOf(side, place, open);
  const addresses = new Map(ranges.map(({ primary }) => [nameOf(primary), primary]));
  const servers = new Map<string, MoveServer>();
  for (const name of [...addresses.keys()].toSorted()) {
    const address = addresses.get(name);
    if (address) servers.set(name, await open(urlOf(address, place.isTLS), name));
  }
  const owners = ownersOf(ranges);
  if (owners.includes(undefined))
    throw new MoveProblem(
      `the ${side} has slots without a server: repair the Redis Cluster, and call the command again`,
    );
  const of = (key: Buffer): MoveServer => {
    const server = servers.get(owners[slotOf(key.toString('latin1'), 'latin1')] ?? '');
    if (!server) throw new MoveProblem(`the ${side} has a slot without a server`);
    return server;
  };
  return { all: [...servers.values()], of };
}

async function viewOf(side: Side, place: ClusterPlace, open: Open): Promise<ClusterView> {
  const problems: string[] = [];
  for (const member of place.members) {
    try {
      const server = await open(urlOf(member, place.isTLS), nameOf(member));
      const asked = await askServer({ command: (...call) => askOrRefusal(server, call) }, member.host);
      if ('view' in asked) return asked.view;
      problems.push(`${nameOf(member)}: ${describeClusterProblem(asked.problem)}`);
    } catch (error) {
      problems.push((error as Error).message);
    }
  }
  throw new MoveProblem(`no server of the ${side} describes its Redis Cluster: ${problems.join('; ')}`);
}

/** As `askForText`. @throws Refusal if the server refuses the call */
async function askOrRefusal(server: MoveServer, call: Call): Promise<unknown> {
  const [answer] = await server.ask([call]);
  if (answer && 'refused' in answer) throw new Refusal(answer.refused);
  return textOf(valueOf(answer));
}

/** The answer of a call, with text in place of bytes. @throws MoveProblem if the server refuses it */
export async function askForText(server: MoveServer, call: Call): Promise<unknown> {
  const [answer] = await server.ask([call]);
  return textOf(valueOf(answer));
}

/** The value of an answer. @throws MoveProblem if the server refused the call */
export function valueOf(answer: Answer | undefined): unknown {
  if (answer && 'value' in answer) return answer.value;
  throw new MoveProblem(`the ${answer?.by} refuses a command: ${answer?.refused}`);
}

function textOf(value: unknown): unknown {
  if (value instanceof Uint8Array) return value.toString();
  return Array.isArray(value) ? value.map(textOf) : value;
}

function openServer(side: Side, store: StoreAccess, name: string): Opened {
  const redis = openRedis({ ...store, name: CONNECTION_NAME });
  let last = new Error('no connection');
  const isSameServer = createIdentityCheck(redis);
  redis.on('error', (error: Error) => (last = error));
  const where = name === '' ? side : `${side} ${name}`;
  return {
    name,
    ready: async () => {
      // Waiting does not help: each connection would have the same wrong password or certificate.
      const refused = Promise.withResolvers<never>();
      redis.on('error', (error: Error) => {
        if (error.name === 'ReplyError' || isDistrust(error)) refused.reject(error);
      });
      refused.promise.catch(() => undefined);
      try {
        await Promise.race([untilReadyWithin(redis, READY_MS), refused.promise]);
        await isSameServer();
      } catch (error) {
        const why = (await sentinelProblem(store)) ?? connectionProblem(last, side, store);
        throw new MoveProblem(`the ${where} cannot be used: ${why}`, { cause: error });
      }
    },
    ask: async (calls) => {
      if (!(await isSameServer()))
        throw new MoveProblem(
          `the ${where} is another server than before, or was restarted. Call the command again`,
        );
      const results = await sendCalls(
        redis,
        calls,
        () => new MoveProblem(`the ${where} does not answer: ${last.message}`),
      );
      return results.map(([error, value]) => answerOf(error, value, where));
    },
    close: () => closeRedis(redis),
  };
}

function connectionProblem(error: Error, side: Side, { url }: StoreAccess): string {
  return describeConnectionError(error, { side, isTLS: placeOf(url).isTLS });
}

/** Why the sentinels name no primary; undefined if they name one, or the URL has no sentinels. */
async function sentinelProblem({ url, caFile }: StoreAccess): Promise<string | undefined> {
  const locator = locatorOf({ url, name: CONNECTION_NAME, ...(caFile !== undefined && { caFile }) });
  const located = await locator?.locate();
  return located && 'problem' in located ? describeSentinelProblem(located.problem, placeOf(url)) : undefined;
}

/**
 * Returns a function that answers whether the connection still reaches the process of its first call, with
 * the same history. The client connects again by itself, and a promoted server may lack what was copied or
 * compared. A connection that was only idle for too long is no reason to stop.
 */
function createIdentityCheck(redis: Redis): () => Promise<boolean> {
  let first: string | undefined;
  let isChecked = false;
  redis.on('close', () => void (isChecked = false));
  return async () => {
    // Without a connection, the call itself fails.
    if (isChecked || !isUp(redis)) return true;
    const [answer] = await sendCalls(redis, [['info']], () => new Error('no answer')).catch(() => []);
    if (!answer || answer[0] !== null) return true;
    const identity = identityIn(String(answer[1]));
    first ??= identity;
    isChecked = identity === first;
    return isChecked;
  };
}

type Results = [error: Error | null, value: unknown][];

/** Sends the calls. Drops the connection if there is no answer in time, so that the calls fail. */
async function sendCalls(redis: Redis, calls: readonly Call[], lost: () => Error): Promise<Results> {
  const pipeline = redis.pipeline();
  // In capitals: the client library transforms the answers of commands whose names it knows.
  for (const [name, ...args] of calls) pipeline.callBuffer(name.toUpperCase(), ...args);
  const timer = setTimeout(() => dropConnection(redis), ANSWER_MS);
  try {
    return (await pipeline.exec()) ?? [];
  } catch (error) {
    throw Object.assign(lost(), { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

function answerOf(error: Error | null, value: unknown, where: string): Answer {
  if (error === null) return { value };
  if (error.name === 'ReplyError') return { refused: withoutArguments(error.message), by: where };
  throw new MoveProblem(`the ${where} does not answer: ${error.message}`, { cause: error });
}

/** The message without arguments, which some servers quote: they are data of users. */
function withoutArguments(message: string): string {
  return message.startsWith('NOPERM') ? message : message.replace(/(?<=^|[\s(:=])'.*$/s, '…');
}
