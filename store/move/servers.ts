/** The servers of a run store that is moved, with values as bytes: they need not be text. */
import type { Redis } from 'ioredis';
import { nameOf, urlOf } from '../../api/runStoreURL.ts';
import { ownersOf, slotOf } from '../clusterSlots.ts';
import { askServer, type ClusterView } from '../clusterView.ts';
import type { ClusterPlace } from '../clusterWatch.ts';
import { closeRedis, dropConnection, openRedis, placeOf, untilReadyWithin } from '../redis.ts';
import { MoveProblem } from './problem.ts';

/** Where a run store is, and the account that moves it. */
export type MovedStore = { url: string; username?: string; password?: string; caFile?: string };

type Part = string | number | Buffer;
export type Call = readonly [name: string, ...args: Part[]];
/** The answer of a call, or the server's error. */
export type Answer = { value: unknown } | { refused: string };

/** A server that takes writes. */
export type MoveServer = {
  /** Sorts the servers of a store. */
  name: string;
  /**
   * Sends calls in one write and answers in their order. Throws `MoveProblem` where the server cannot be
   * reached, or does not answer in time.
   */
  ask: (calls: readonly Call[]) => Promise<Answer[]>;
};

export type MoveServers = {
  /** For messages: `source` or `target`. */
  side: Side;
  url: string;
  /** How many replicas have to confirm. */
  replicas: number;
  all: readonly MoveServer[];
  /** The server that has a key. */
  of: (key: Buffer) => MoveServer;
  close: () => Promise<void>;
};

export type Side = 'source' | 'target';

/** How the servers list the connections. */
export const MOVE_CLIENT = 'windlass-store-move';
const READY_MS = 5_000;
/** A page of large values takes seconds through a slow line. */
const ANSWER_MS = 60_000;

/** Connects to all servers of the store. @throws MoveProblem that says which one does not answer, and why */
export async function openServers(side: Side, store: MovedStore): Promise<MoveServers> {
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

/** All slots must have a server: otherwise nothing could say which projects are missing. */
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
    throw new MoveProblem(`the ${side} has slots without a server: repair the Redis Cluster first`);
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
      const asked = await askServer({ command: (...call) => textAnswer(server, call) }, member.host);
      if ('view' in asked) return asked.view;
      problems.push(`${nameOf(member)}: ${asked.problem}`);
    } catch (error) {
      problems.push((error as Error).message);
    }
  }
  throw new MoveProblem(`no server of the ${side} knows the Redis Cluster: ${problems.join('; ')}`);
}

/** An answer with text in place of bytes. @throws MoveProblem where the server refuses */
export async function textAnswer(server: MoveServer, call: Call): Promise<unknown> {
  const [answer] = await server.ask([call]);
  return textOf(valueOf(answer));
}

/** @throws MoveProblem where the server refused */
export function valueOf(answer: Answer | undefined): unknown {
  if (answer && 'value' in answer) return answer.value;
  throw new MoveProblem(`the server refuses: ${answer?.refused ?? 'no answer'}`);
}

function textOf(value: unknown): unknown {
  if (value instanceof Uint8Array) return value.toString();
  return Array.isArray(value) ? value.map(textOf) : value;
}

function openServer(side: Side, store: MovedStore, name: string): Opened {
  const redis = openRedis({ ...store, name: MOVE_CLIENT });
  let last = 'no connection';
  redis.on('error', (error: Error) => (last = error.message));
  const where = name === '' ? side : `${side} ${name}`;
  return {
    name,
    ready: async () => {
      // A wrong password is refused on each connection, so that waiting would not help.
      const refused = Promise.withResolvers<never>();
      redis.on('error', (error: Error) => error.name === 'ReplyError' && refused.reject(error));
      refused.promise.catch(() => undefined);
      try {
        await Promise.race([untilReadyWithin(redis, READY_MS), refused.promise]);
      } catch (error) {
        throw new MoveProblem(`the ${where} cannot be used: ${last}`, { cause: error });
      }
    },
    ask: async (calls) => {
      const results = await answered(
        redis,
        calls,
        () => new MoveProblem(`the ${where} does not answer: ${last}`),
      );
      return results.map(([error, value]) => answerOf(error, value, where));
    },
    close: () => closeRedis(redis),
  };
}

type Results = [error: Error | null, value: unknown][];

/** Drops a connection without answers: the calls fail then. */
async function answered(redis: Redis, calls: readonly Call[], lost: () => Error): Promise<Results> {
  const pipeline = redis.pipeline();
  // In capitals: the client library changes answers of commands by their names, and bytes to text.
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
  if (error.name === 'ReplyError') return { refused: withoutArguments(error.message) };
  throw new MoveProblem(`the ${where} does not answer: ${error.message}`, { cause: error });
}

/** Servers quote arguments in some errors: data of users. */
function withoutArguments(message: string): string {
  return message.startsWith('NOPERM') ? message : message.replace(/(?<=^|[\s(:=])'.*$/s, '…');
}
