/**
 * `topology`: what a replica that confirms each event costs. Beside each other on one machine, with the same
 * API server: one server; a primary with a replica, sentinels and barriers; and a Redis Cluster of three
 * primaries with a replica each. On Redis, and on Valkey where this machine has it.
 */
import { findCommand } from '../support/process/command.ts';
import { putRoute } from '../support/gateway/gatewayHarness.ts';
import { pollUntil } from '../support/time/poll.ts';
import { EVENT } from './accept.ts';
import { emptyProject, submitOne } from './chain.ts';
import { startHarness, type Harness } from './harness.ts';
import { median, type Figure } from './report.ts';
import { startRunnerProcess } from './runnerProcess.ts';
import { drained } from './runs.ts';
import { inFlight, perSecond } from './store.ts';
import { startBeside } from './topologyStores.ts';
import { runWrk, type Measured } from './wrk.ts';

const ROUNDS = 7;
const SECONDS = 2;
const CONNECTIONS = 32;
/** So many keep the processors busy: with fewer, what limits the rate is how long one confirmation takes. */
const MANY_CONNECTIONS = 128;
const SUBMITS = 5_000;
const BACKLOG = 10_000;
const DRAINS = 3;
/** The route whose callers wait for the answer (`chain.ts`). */
const ANSWERED = 'answered';

type Store = { name: string; harness: Harness; base?: string };
/** One value of each round. */
type Rounds = Record<'submits' | 'accepts' | 'acceptsOfMany' | 'p50' | 'runs', number[]>;

export async function topology(): Promise<Figure[]> {
  const single = await startHarness({ reply: false });
  const closers = [() => single.close()];
  try {
    await putRoute(single.client, ANSWERED, { webhook: { reply: true } });
    const stores: Store[] = [{ name: 'single', harness: single }];
    const add = async (
      name: string,
      base: string | undefined,
      options: Parameters<typeof startBeside>[1],
    ) => {
      const harness = await startBeside(single, options);
      closers.push(() => harness.close());
      stores.push({ name, harness, ...(base !== undefined && { base }) });
    };
    await add('sentinel', 'single', { replicas: 1 });
    await add('cluster', 'single', { replicas: 1, isCluster: true });
    if (await findCommand('valkey-server')) {
      await add('Valkey single', undefined, { program: 'valkey-server', replicas: 0 });
      await add('Valkey sentinel', 'Valkey single', { program: 'valkey-server', replicas: 1 });
      await add('Valkey cluster', 'Valkey single', {
        program: 'valkey-server',
        replicas: 1,
        isCluster: true,
      });
    } else console.error('valkey-server is missing: its figures are left out.');
    for (const { harness } of stores) await untilServed(harness);
    return figuresOf(stores, await measure(stores));
  } finally {
    for (const close of closers.toReversed()) await close();
  }
}

async function untilServed(harness: Harness): Promise<void> {
  for (const url of [harness.hookURL, harness.hook(ANSWERED)])
    await pollUntil('the route being served', async () => (await fetch(url)).status === 405, {
      timeoutMs: 20_000,
    });
}

async function measure(stores: readonly Store[]): Promise<Map<string, Rounds>> {
  const found = new Map<string, Rounds>(
    stores.map(({ name }) => [name, { submits: [], accepts: [], acceptsOfMany: [], p50: [], runs: [] }]),
  );
  const each = async (what: keyof Rounds, rounds: number, once: (harness: Harness) => Promise<number>) => {
    // The first round of all warms up: what is compiled late would count against the first store.
    for (let round = 0; round <= rounds; round += 1) {
      for (const { name, harness } of stores) {
        await emptyProject(harness);
        const value = await once(harness);
        if (round > 0) found.get(name)?.[what].push(value);
        console.error(`${what}, round ${round} of ${rounds}, ${name}: ${value.toPrecision(4)}`);
      }
    }
  };
  await each('submits', ROUNDS, submits);
  await each('accepts', ROUNDS, async ({ hookURL }) => (await load(hookURL, CONNECTIONS)).perSecond);
  await each(
    'acceptsOfMany',
    ROUNDS,
    async ({ hookURL }) => (await load(hookURL, MANY_CONNECTIONS)).perSecond,
  );
  await each('p50', ROUNDS, replyP50);
  await each('runs', DRAINS, async (harness) => (await drained(harness, 'chain', BACKLOG)).perSecond);
  return found;
}

const load = (url: string, connections: number): Promise<Measured> =>
  runWrk({ url, connections, seconds: SECONDS, body: EVENT });

/** Straight to the run store, by one connection. */
async function submits(harness: Harness): Promise<number> {
  const once = async () => void (await submitOne(harness, 'chain'));
  return (await perSecond(() => inFlight(SUBMITS, once))) * SUBMITS;
}

async function replyP50(harness: Harness): Promise<number> {
  const runner = await startRunnerProcess(harness);
  try {
    return (await load(harness.hook(ANSWERED), 1)).p50Ms;
  } finally {
    await runner.stop();
  }
}

/** The ratio is that of rounds that followed each other. */
function figuresOf(stores: readonly Store[], found: ReadonlyMap<string, Rounds>): Figure[] {
  const units = {
    submits: 'submits/s',
    accepts: 'requests/s',
    acceptsOfMany: 'requests/s',
    p50: 'ms',
    runs: 'runs/s',
  };
  const names = {
    submits: 'submits',
    accepts: `accept, ${CONNECTIONS} connections`,
    acceptsOfMany: `accept, ${MANY_CONNECTIONS} connections`,
    p50: 'reply p50, 1 connection',
    runs: 'three-node runs',
  };
  return (['submits', 'accepts', 'acceptsOfMany', 'p50', 'runs'] as const).flatMap((what) =>
    stores.map(({ name, base }): Figure => {
      const values = found.get(name)?.[what] ?? [];
      const others = base === undefined ? undefined : found.get(base)?.[what];
      const figure = { name: `${name}: ${names[what]}`, value: median(values), unit: units[what] };
      if (!others) return figure;
      const ratio = median(values.map((value, round) => value / (others[round] ?? Number.NaN)));
      const goal = what.startsWith('accepts')
        ? { goal: { at: 'least', value: 0.5, of: 'ratio' } as const }
        : {};
      return { ...figure, ratio: { to: base ?? '', value: ratio }, ...goal };
    }),
  );
}
