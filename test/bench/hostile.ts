/**
 * `hostile`: how long a good caller waits beside each kind of hostile ones, by how long it waits alone, in
 * the same minute; and the most memory that the gateway ever takes. The limits are those that an installation
 * has by default. What is attacked is the gateway, not the machine: the hostile ones run only where nobody
 * else does, and the store syncs to memory, since the times of a disk that others use too are longer than
 * those that are measured.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { webhookRoutes } from '../../gateway/routing/follow.ts';
import { namespaces } from '../../kube/resource.ts';
import { openProject } from '../../runs/project.ts';
import { startGatewayHarness, putRoute, type GatewayHarness } from '../support/gateway/gatewayHarness.ts';
import { memoryOf } from '../support/gateway/hostileClients.ts';
import { pollUntil } from '../support/time/poll.ts';
import { EVENT } from './accept.ts';
import { FLOODED, KINDS } from './hostileKinds.ts';
import { median, type Figure } from './report.ts';

const ROUNDS = 3;
const SECONDS = 4;
/** Of the good caller: what a busy installation gets, far below what a gateway takes. */
const PER_SECOND = 200;
/** Until all hostile connections are there, and until nothing of them is left. */
const SETTLE_MS = 1_500;
const QUOTA_BYTES = 4 * 2 ** 30;
const VOLUME_MIB = 8_192;
/** The half of the chart's limit, 512 MiB. On a machine it would take far more before it tidies up. */
const HEAP = ['--max-old-space-size=256'];
const MOST_MIB = 400;

export async function hostile(): Promise<Figure[]> {
  const harness = await startLimitedHarness();
  const rounds = new Map<string, { alone: number; beside: number }[]>();
  const memory: number[] = [];
  try {
    const call = createCaller(harness.hook('good'));
    await measure(call);
    for (let round = 1; round <= ROUNDS; round += 1) {
      for (const kind of Object.keys(KINDS)) {
        const alone = await measure(call);
        const attack = await startHostile(harness.gateway.publicPort, kind);
        const beside = await measure(call);
        await attack.stop();
        rounds.set(kind, [...(rounds.get(kind) ?? []), { alone, beside }]);
        const { nowMiB, mostMiB } = await memoryOf(harness.gateway.pid);
        memory.push(mostMiB);
        console.error(
          `round ${round} of ${ROUNDS}, ${kind}: p95 ${alone.toFixed(2)} ms alone, ${beside.toFixed(2)} ms beside; ` +
            `${Math.round(nowMiB)} MiB, at most ${Math.round(mostMiB)} MiB`,
        );
        await delay(SETTLE_MS);
      }
    }
    call.close();
    return figures(rounds, { refused: call.refused(), mostMiB: Math.max(...memory) });
  } finally {
    await harness.close();
  }
}

/**
 * A gateway with a webhook for the good caller, and a second project with one webhook for events and one that
 * replies.
 */
async function startLimitedHarness(): Promise<GatewayHarness> {
  const harness = await startGatewayHarness({
    nodeArgs: HEAP,
    quotaBytes: QUOTA_BYTES,
    redisConfig: ['auto-aof-rewrite-percentage 0'],
    volumeMiB: VOLUME_MIB,
  });
  try {
    const template = await putRoute(harness.client, 'good');
    await putRoute(harness.client, 'orders');
    const projectUID = `project-${FLOODED}`;
    await openProject(harness.runs, projectUID, { quotaBytes: QUOTA_BYTES });
    await harness.client.create(namespaces, { metadata: { name: FLOODED } });
    for (const [workflow, reply] of [
      ['flood', false],
      ['asking', true],
    ] as const) {
      const webhook = { path: 'new', reply, replyTimeoutSeconds: 30 };
      const own = { workflow, workflowUID: `uid-of-${workflow}`, projectUID, webhook };
      const metadata = { namespace: FLOODED, name: workflow };
      await harness.client.create(webhookRoutes, { metadata, spec: { ...template.spec, ...own } });
    }
    const last = `${harness.gateway.publicURL}/webhook/${FLOODED}.asking/new`;
    await pollUntil('the routes being served', async () => (await fetch(last)).status === 405, {
      timeoutMs: 10_000,
    });
    return harness;
  } catch (error) {
    await harness.close();
    throw error;
  }
}

/** Starts them, and gives what ends them. */
async function startHostile(port: number, kind: string): Promise<{ stop: () => Promise<void> }> {
  const program = fileURLToPath(new URL('hostileProcess.ts', import.meta.url));
  const child = spawn(process.execPath, [program, String(port), kind], { stdio: 'inherit' });
  const killWithUs = () => child.kill('SIGKILL');
  process.once('exit', killWithUs);
  execFileSync('chrt', ['--idle', '--all-tasks', '--pid', '0', String(child.pid)]);
  await delay(SETTLE_MS);
  return {
    stop: async () => {
      process.removeListener('exit', killWithUs);
      if (child.exitCode !== null) throw new Error('The hostile ones ended by themselves.');
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

type Caller = {
  /** Sends one event. */
  send: () => Promise<void>;
  /** How many were not accepted so far. */
  refused: () => number;
  close: () => void;
};

function createCaller(url: string): Caller {
  const agent = new Agent({ keepAlive: true });
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(EVENT) };
  let refused = 0;
  const send = async (): Promise<void> => {
    const sent = request(url, { agent, method: 'POST', headers });
    sent.end(EVENT);
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    if (answer.statusCode !== 200) refused += 1;
    answer.resume();
    await once(answer, 'end');
  };
  return { send, refused: () => refused, close: () => agent.destroy() };
}

/**
 * The time in ms that 95 of 100 events take, sent at a fixed pace whether or not those before were answered.
 */
async function measure({ send }: Caller): Promise<number> {
  const begin = performance.now();
  const times: Promise<number>[] = [];
  for (let event = 0; event < PER_SECOND * SECONDS; event += 1) {
    const due = begin + (event * 1_000) / PER_SECOND;
    const early = due - performance.now();
    if (early > 0) await delay(early);
    const sentAt = performance.now();
    const time = send().then(() => performance.now() - sentAt);
    // It is checked when all are sent.
    time.catch(() => undefined);
    times.push(time);
  }
  const sorted = (await Promise.all(times)).toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length * 0.95)] ?? Number.NaN;
}

function figures(
  rounds: Map<string, { alone: number; beside: number }[]>,
  { refused, mostMiB }: { refused: number; mostMiB: number },
): Figure[] {
  const all = [...rounds.values()].flat();
  return [
    { name: 'p95 of a good caller, alone', value: median(all.map(({ alone }) => alone)), unit: 'ms' },
    ...[...rounds].map(
      ([kind, found]): Figure => ({
        name: `p95 beside ${kind}`,
        value: median(found.map(({ beside }) => beside)),
        unit: 'ms',
        ratio: { to: 'alone', value: median(found.map(({ alone, beside }) => beside / alone)) },
        goal: { at: 'most', value: 2, of: 'ratio' },
      }),
    ),
    {
      name: 'calls of the good caller that were refused',
      value: refused,
      unit: 'requests',
      goal: { at: 'most', value: 0, of: 'value' },
    },
    {
      name: 'most memory of the gateway',
      value: mostMiB,
      unit: 'MiB',
      goal: { at: 'most', value: MOST_MIB, of: 'value' },
    },
  ];
}
