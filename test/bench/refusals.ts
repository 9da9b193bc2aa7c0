/** `refusals`: how many calls a second one gateway process refuses, beside a bare echo on the same machine in the same minute. */
import { putRoute } from '../support/door.ts';
import { pollUntil } from '../support/poll.ts';
import { EVENT } from './accept.ts';
import { median, type Figure } from './report.ts';
import { setStage, type Stage } from './stage.ts';
import { runWrk, type Load, type Measured } from './wrk.ts';

const ROUNDS = 9;
const SECONDS = 2;
const CONNECTIONS = 32;

export async function refusals(): Promise<Figure[]> {
  const stage = await setStage({ reply: false });
  const measured = new Map<string, Measured[]>();
  try {
    const loads = await loadsOf(stage);
    for (const [, load] of loads) await runWrk({ ...load, seconds: 2 });
    for (let round = 1; round <= ROUNDS; round += 1) {
      for (const [name, load] of loads) {
        measured.set(name, [...(measured.get(name) ?? []), await runWrk({ ...load, seconds: SECONDS })]);
      }
      const line = [...measured].map(([name, all]) => `${name} ${Math.round(all.at(-1)?.perSecond ?? 0)}/s`);
      console.error(`round ${round} of ${ROUNDS}: ${line.join(', ')}`);
    }
  } finally {
    await stage.close();
  }
  return figures(measured);
}

type Unhurried = Omit<Load, 'seconds'>;

/** The echo first, then every kind of refusal. */
async function loadsOf(stage: Stage): Promise<[name: string, load: Unhurried][]> {
  const rare = stage.hook('rare');
  await putRoute(stage.client, 'rare', { webhook: { rateLimit: { requestsPerSecond: 1, burst: 1 } } });
  await pollUntil('the route being served', async () => (await fetch(rare)).status === 405, {
    timeoutMs: 10_000,
  });
  const load = { connections: CONNECTIONS, body: EVENT };
  const refused = { ...load, refused: true };
  return [
    ['echo', { ...load, url: stage.echoURL }],
    ['404', { ...refused, url: stage.hook('unknown') }],
    ['401', { ...refused, url: stage.signedURL }],
    // The length alone is told: what a client sends after it is not read, and would be measured with it.
    ['413', { ...refused, url: stage.hookURL, body: '', headers: { 'Content-Length': '2000000' } }],
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
