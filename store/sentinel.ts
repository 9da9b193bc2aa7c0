/**
 * Finds the primary through Sentinel. More than half of the configured sentinels have to name the same
 * server: a minority may be cut off together with a former primary.
 */
import { Redis } from 'ioredis';
import { isAddress, type RunStoreURL, type ServerAddress } from '../api/runStoreURL.ts';
import { afterRunning } from './runningTime.ts';
import type { Trust } from './trust.ts';

export type SentinelAnswer =
  | { outcome: 'primary'; address: ServerAddress }
  /** It does not know a primary of the name. */
  | { outcome: 'unknown' }
  /** It refuses the question: it is no sentinel, or demands a password. */
  | { outcome: 'refused' }
  | { outcome: 'unreachable' };

/** Why no primary was found. */
export type LocateProblem =
  | 'sentinels disagree about the primary'
  | 'sentinels do not know the primary'
  | 'sentinels refuse the question'
  | 'too few sentinels answer';

export type Located = { primary: ServerAddress } | { problem: LocateProblem };

/** Long enough for a loaded sentinel, and short enough for a new attempt each second. */
const ASK_MS = 1_000;

/** Decides from the answers of all configured sentinels. Pure. */
export function decidePrimary(answers: readonly SentinelAnswer[]): Located {
  const least = Math.floor(answers.length / 2) + 1;
  const votes = new Map<string, { address: ServerAddress; count: number }>();
  for (const answer of answers) {
    if (answer.outcome !== 'primary') continue;
    const { address } = answer;
    const key = `${address.host} ${address.port}`;
    votes.set(key, { address, count: (votes.get(key)?.count ?? 0) + 1 });
  }
  const elected = [...votes.values()].find(({ count }) => count >= least);
  return elected ? { primary: elected.address } : { problem: problemOf(answers, votes.size) };
}

function problemOf(answers: readonly SentinelAnswer[], named: number): LocateProblem {
  const count = (outcome: SentinelAnswer['outcome']) =>
    answers.filter((answer) => answer.outcome === outcome).length;
  if (named > 1 || (named === 1 && count('unknown') > 0)) return 'sentinels disagree about the primary';
  if (count('unknown') > 0) return 'sentinels do not know the primary';
  if (count('refused') > 0) return 'sentinels refuse the question';
  return 'too few sentinels answer';
}

type Sentinels = Extract<RunStoreURL, { topology: 'sentinel' }>;

/**
 * Asks one sentinel after the other, one for each call, from a random one on. Answers the server that
 * it names; undefined where it names none. All sentinels together decide: this costs a third of asking
 * them.
 */
export function createSentinelTurns(
  { sentinels, primary }: Sentinels,
  tls?: Trust,
): () => Promise<ServerAddress | undefined> {
  let turn = Math.floor(Math.random() * sentinels.length);
  return async () => {
    turn = (turn + 1) % sentinels.length;
    const sentinel = sentinels[turn];
    const answer = sentinel && (await askSentinel(sentinel, primary, tls));
    return answer?.outcome === 'primary' ? answer.address : undefined;
  };
}

/** Asks all sentinels at once. Answers as soon as enough agree, and within two seconds. */
export async function locatePrimary({ sentinels, primary }: Sentinels, tls?: Trust): Promise<Located> {
  const answers = sentinels.map((): SentinelAnswer => ({ outcome: 'unreachable' }));
  const agreed = Promise.withResolvers<Located>();
  const asked = sentinels.map(async (sentinel, index) => {
    answers[index] = await askSentinel(sentinel, primary, tls);
    const located = decidePrimary(answers);
    if ('primary' in located) agreed.resolve(located);
  });
  return Promise.race([agreed.promise, Promise.all(asked).then(() => decidePrimary(answers))]);
}

async function askSentinel(
  { host, port }: ServerAddress,
  primary: string,
  tls: Trust | undefined,
): Promise<SentinelAnswer> {
  const redis = new Redis({
    host,
    port,
    ...(tls && { tls }),
    lazyConnect: true,
    enableReadyCheck: false,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  // Without a listener the client writes errors to the console; the caller reports the outcome.
  redis.on('error', () => undefined);
  const cancel = afterRunning(ASK_MS, () => disconnect(redis));
  try {
    await redis.connect();
    return answerOf(await redis.call('sentinel', 'get-master-addr-by-name', primary));
  } catch (error) {
    return { outcome: (error as Error).name === 'ReplyError' ? 'refused' : 'unreachable' };
  } finally {
    cancel();
    disconnect(redis);
  }
}

/** Rejects the calls in progress. The client's own method waits for the server to close. */
function disconnect(redis: Redis): void {
  redis.disconnect();
  (redis.stream as Redis['stream'] | undefined)?.destroy();
}

function answerOf(answer: unknown): SentinelAnswer {
  if (!Array.isArray(answer)) return { outcome: 'unknown' };
  const [host, port] = answer as [string, string];
  const address = { host, port: Number(port) };
  // The client would give up for good: no connection can be opened to such an address.
  return isAddress(address) ? { outcome: 'primary', address } : { outcome: 'unknown' };
}
