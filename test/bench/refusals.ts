/**
 * `refusals`: how many calls a second one gateway process refuses, beside a bare echo on the same machine in
 * the same minute. A body that is too large costs its sender the connection, so that it is compared with an
 * echo on connections of one request, by processor time.
 */
import { putRoute } from '../support/gateway/gatewayHarness.ts';
import { pollUntil } from '../support/time/poll.ts';
import { EVENT } from './accept.ts';
import { median, type Figure } from './report.ts';
import { costOfSingles } from './singles.ts';
import { startHarness, type Harness } from './harness.ts';
import { runWrk, type Load, type Measured } from './wrk.ts';

const ROUNDS = 9;
const SECONDS = 2;
const CONNECTIONS = 32;
const TOO_LARGE_BYTES = 2_000_000;

export async function refusals(): Promise<Figure[]> {
  const harness = await startHarness({ reply: false });
  const measured = new Map<string, Measured[]>();
  const singles: Costs[] = [];
  try {
    const loads = await loadsOf(harness);
    for (const [, load] of loads) await runWrk({ ...load, seconds: 2 });
    for (let round = 1; round <= ROUNDS; round += 1) {
      for (const [name, load] of loads) {
        measured.set(name, [...(measured.get(name) ?? []), await runWrk({ ...load, seconds: SECONDS })]);
      }
      singles.push(await costs(harness));
      const line = [...measured].map(([name, all]) => `${name} ${Math.round(all.at(-1)?.perSecond ?? 0)}/s`);
      console.error(`round ${round} of ${ROUNDS}: ${line.join(', ')}`);
    }
  } finally {
    await harness.close();
  }
  return [...figures(measured), ...singleFigures(singles)];
}

type Costs = { echo: number; tooLarge: number };

/**
 * Microseconds of the processor for one request with a connection of its own. The length alone is told, as by
 * a client that waits.
 */
async function costs({ echoURL, echoPid, hookURL, gateway }: Harness): Promise<Costs> {
  const head = (url: string, length: number) =>
    `POST ${new URL(url).pathname} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
  const echo = {
    pid: echoPid,
    port: Number(new URL(echoURL).port),
    request: head(echoURL, Buffer.byteLength(EVENT)) + EVENT,
    answer: 'HTTP/1.1 200',
  };
  const tooLarge = {
    pid: gateway.pid,
    port: gateway.publicPort,
    request: head(hookURL, TOO_LARGE_BYTES),
    answer: 'HTTP/1.1 413',
  };
  return {
    echo: await costOfSingles({ ...echo, seconds: SECONDS }),
    tooLarge: await costOfSingles({ ...tooLarge, seconds: SECONDS }),
  };
}

function singleFigures(rounds: Costs[]): Figure[] {
  const value = median(rounds.map(({ echo, tooLarge }) => echo / tooLarge));
  return [
    {
      name: 'echo, a connection for each request',
      value: median(rounds.map(({ echo }) => echo)),
      unit: 'µs of the processor',
    },
    {
      name: '413, a connection for each request',
      value: median(rounds.map(({ tooLarge }) => tooLarge)),
      unit: 'µs of the processor',
      ratio: { to: 'cheapness of the echo', value },
      goal: { at: 'least', value: 0.5, of: 'ratio' },
    },
  ];
}

type Unhurried = Omit<Load, 'seconds'>;

/** The echo first, then every kind of refusal. */
async function loadsOf(harness: Harness): Promise<[name: string, load: Unhurried][]> {
  const rare = harness.hook('rare');
  await putRoute(harness.client, 'rare', { webhook: { rateLimit: { requestsPerSecond: 1, burst: 1 } } });
  await pollUntil('the route being served', async () => (await fetch(rare)).status === 405, {
    timeoutMs: 10_000,
  });
  const load = { connections: CONNECTIONS, body: EVENT };
  const refused = { ...load, refused: true };
  return [
    ['echo', { ...load, url: harness.echoURL }],
    ['404', { ...refused, url: harness.hook('unknown') }],
    ['401', { ...refused, url: harness.signedURL }],
    ['429', { ...refused, url: rare }],
  ];
}

function figures(measured: Map<string, Measured[]>): Figure[] {
  const echoes = measured.get('echo') ?? [];
  return [...measured].map(([name, rounds]) => {
    const value = median(rounds.map(({ perSecond }) => perSecond));
    const ratio = median(
      rounds.map(({ perSecond }, at) => perSecond / (echoes[at]?.perSecond ?? Number.NaN)),
    );
    return {
      name,
      value,
      unit: 'requests/s',
      ...(name !== 'echo' && {
        ratio: { to: 'echo', value: ratio },
        goal: { at: 'least', value: 0.5, of: 'ratio' } as const,
      }),
    };
  });
}
