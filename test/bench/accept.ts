/**
 * `accept`: how many webhook calls a second one gateway process accepts durably, each synced to the disk
 * before it is answered, beside a bare echo on the same machine in the same minute; how many where each
 * caller's signature is checked; and how many whose numbers a double cannot represent.
 */
import { median, type Figure } from './report.ts';
import { startHarness } from './harness.ts';
import { runWrk, type Measured } from './wrk.ts';

/** Many and short, so that whatever else the machine does falls on both alike. */
const ROUNDS = 15;
const SECONDS = 2;
const CONNECTIONS = 32;
/** So many keep the processors busy while events wait for the disk. */
const MANY_CONNECTIONS = 128;

/** A small order, as shops send them. */
export const EVENT = JSON.stringify({
  id: 'ord_4711',
  created: '2026-11-21T09:00:00Z',
  customer: { name: 'Ann Example', email: 'ann@example.com', language: 'en' },
  items: [
    { sku: 'tea-1', name: 'Green tea', quantity: 2, price: 4.5 },
    { sku: 'cup-7', name: 'Cup', quantity: 1, price: 12 },
  ],
  total: 21,
  currency: 'EUR',
  paid: true,
});

/** The same order, with an ID and a price that a double cannot represent. */
const EXACT_EVENT = EVENT.replace('"ord_4711"', '12345678901234567890').replace(
  '4.5',
  '0.1000000000000000055511151231257827',
);

export async function accept(): Promise<Figure[]> {
  const harness = await startHarness({ reply: false });
  const echoes: Measured[] = [];
  const accepts: Measured[] = [];
  const signed: Measured[] = [];
  const exact: Measured[] = [];
  const manyEchoes: Measured[] = [];
  const many: Measured[] = [];
  try {
    const signedLoad = {
      connections: CONNECTIONS,
      body: EVENT,
      url: harness.signedURL,
      headers: harness.sign(EVENT),
    };
    const load = { connections: CONNECTIONS, body: EVENT };
    const exactLoad = { connections: CONNECTIONS, body: EXACT_EVENT, url: harness.hookURL };
    // Warm both up: what is compiled late would count against the first.
    await runWrk({ ...load, url: harness.echoURL, seconds: 2 });
    await runWrk({ ...load, url: harness.hookURL, seconds: 3 });
    await runWrk({ ...signedLoad, seconds: 2 });
    await runWrk({ ...exactLoad, seconds: 2 });
    for (let round = 1; round <= ROUNDS; round += 1) {
      await harness.emptyStore();
      echoes.push(await runWrk({ ...load, url: harness.echoURL, seconds: SECONDS }));
      accepts.push(await runWrk({ ...load, url: harness.hookURL, seconds: SECONDS }));
      await harness.emptyStore();
      exact.push(await runWrk({ ...exactLoad, seconds: SECONDS }));
      await harness.emptyStore();
      signed.push(await runWrk({ ...signedLoad, seconds: SECONDS }));
      await harness.emptyStore();
      const manyLoad = { ...load, connections: MANY_CONNECTIONS, seconds: SECONDS };
      manyEchoes.push(await runWrk({ ...manyLoad, url: harness.echoURL }));
      many.push(await runWrk({ ...manyLoad, url: harness.hookURL }));
      const [echo, accepted, verified, exactly] = [echoes, accepts, signed, exact].map((all) =>
        Math.round(all.at(-1)?.perSecond ?? 0),
      );
      console.error(
        `round ${round} of ${ROUNDS}: echo ${echo}/s, accept ${accepted}/s, accept with HMAC ${verified}/s, accept exact numbers ${exactly}/s`,
      );
    }
  } finally {
    await harness.close();
  }
  return figures(echoes, { accepts, signed, exact, manyEchoes, many });
}

type Rounds = Record<'accepts' | 'signed' | 'exact' | 'manyEchoes' | 'many', Measured[]>;

function figures(echoes: Measured[], { accepts, signed, exact, manyEchoes, many }: Rounds): Figure[] {
  const of = (rounds: Measured[], member: keyof Measured) => median(rounds.map((round) => round[member]));
  const ratioOf = (rounds: Measured[], others = echoes) =>
    median(rounds.map((round, at) => round.perSecond / (others[at]?.perSecond ?? Number.NaN)));
  return [
    { name: 'echo', value: of(echoes, 'perSecond'), unit: 'requests/s' },
    {
      name: 'accept',
      value: of(accepts, 'perSecond'),
      unit: 'requests/s',
      ratio: { to: 'echo', value: ratioOf(accepts) },
      goal: { at: 'least', value: 0.5, of: 'ratio' },
    },
    {
      name: 'accept with HMAC',
      value: of(signed, 'perSecond'),
      unit: 'requests/s',
      ratio: { to: 'echo', value: ratioOf(signed) },
      goal: { at: 'least', value: 0.42, of: 'ratio' },
    },
    {
      name: 'accept exact numbers',
      value: of(exact, 'perSecond'),
      unit: 'requests/s',
      ratio: { to: 'accept', value: ratioOf(exact, accepts) },
      goal: { at: 'least', value: 0.9, of: 'ratio' },
    },
    {
      name: `accept, ${MANY_CONNECTIONS} connections`,
      value: of(many, 'perSecond'),
      unit: 'requests/s',
      ratio: { to: `echo, ${MANY_CONNECTIONS} connections`, value: ratioOf(many, manyEchoes) },
    },
    { name: 'echo p99', value: of(echoes, 'p99Ms'), unit: 'ms' },
    { name: 'accept p99', value: of(accepts, 'p99Ms'), unit: 'ms' },
    { name: 'accept p50', value: of(accepts, 'p50Ms'), unit: 'ms' },
  ];
}
