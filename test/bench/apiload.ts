/**
 * `apiload`: what the API server is asked for at 0, 100 and 1,000 webhook calls a second, by its own count:
 * operator, gateway and the runners of two projects really run. Writes stay within the budget, and traffic
 * adds nothing beyond it.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { kubectl } from '../support/cluster/kubectl.ts';
import { EVENT } from './accept.ts';
import { sendPaced, type Sent } from './paced.ts';
import { median, type Figure } from './report.ts';
import { openWhole, type Whole } from './whole.ts';

const PROJECTS = 2;
const WORKFLOWS_EACH = 5;
/** Calls a second, of both projects together. */
const RATES = [0, 100, 1_000];
/** Until shares of the budget, histories and caches are what that rate makes of them. */
const SETTLE_SECONDS = 20;
const SECONDS = 60 * Number(process.env['BENCH_SCALE'] ?? '1');
const KUBECTL_SECONDS = 15;
const GETS = 9;
/** The chart's: of making and pruning records, in all and of one project. */
const BUDGET = { all: 200, project: 100 };
const WRITES = new Set(['POST', 'PUT', 'PATCH', 'APPLY', 'DELETE']);

const SPEC = {
  active: true,
  nodes: [
    { id: 'trigger', webhook: { path: 'new' } },
    {
      id: 'sum',
      skill: { name: 'set', parameters: { values: { total: 'nodes.trigger.data_content.total * 1.2' } } },
    },
  ],
};

type Loaded = {
  rate: number;
  /** Calls accepted and runs ended a second. */
  accepted: number;
  ended: number;
  /** Requests a second, by verb and resource. */
  requests: Map<string, number>;
  kubectlMs: number;
};

export async function apiload(): Promise<Figure[]> {
  const whole = await openWhole({ projects: PROJECTS, workflowsEach: WORKFLOWS_EACH, spec: SPEC });
  try {
    const measured: Loaded[] = [];
    for (const rate of RATES) measured.push(await measure(whole, rate));
    return figures(measured);
  } finally {
    await whole.close();
  }
}

async function measure(whole: Whole, rate: number): Promise<Loaded> {
  const seconds = SETTLE_SECONDS + SECONDS + KUBECTL_SECONDS;
  const sending = send(whole, rate, seconds);
  await delay(SETTLE_SECONDS * 1_000);
  const [before, endedBefore] = [await requestCounts(whole), (await whole.counts()).ended];
  const begin = performance.now();
  await delay(SECONDS * 1_000);
  const [after, endedAfter] = [await requestCounts(whole), (await whole.counts()).ended];
  const passed = (performance.now() - begin) / 1_000;
  const kubectlMs = await getTime(whole);
  const sent = await sending;
  const requests = new Map(
    [...after].map(([key, count]) => [key, (count - (before.get(key) ?? 0)) / passed] as const),
  );
  const loaded = {
    rate,
    accepted: sent.accepted / sent.seconds,
    ended: (endedAfter - endedBefore) / passed,
    requests,
    kubectlMs,
  };
  print(loaded, sent);
  return loaded;
}

async function send({ hooks }: Whole, rate: number, seconds: number): Promise<Sent> {
  if (rate === 0) return { accepted: 0, others: new Map(), seconds };
  return sendPaced({ urls: hooks, perSecond: rate, total: rate * seconds, body: EVENT });
}

/** `apiserver_request_total` by verb and resource, subresource included. */
async function requestCounts({ server }: Whole): Promise<Map<string, number>> {
  const text = await kubectl(server, ['get', '--raw', '/metrics']);
  const counts = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [, labels, count] = /^apiserver_request_total\{(.*)\} (\S+)$/.exec(line) ?? [];
    if (labels === undefined) continue;
    const label = (name: string) => new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? '';
    const resource = [label('resource'), label('subresource')].filter((part) => part !== '').join('/');
    const key = `${label('verb')} ${resource}`;
    counts.set(key, (counts.get(key) ?? 0) + Number(count));
  }
  return counts;
}

async function getTime({ server, projects: [project] }: Whole): Promise<number> {
  const times: number[] = [];
  for (let done = 0; done < GETS; done += 1) {
    const begin = performance.now();
    await kubectl(server, ['get', 'workflows.windlass.dev', '-n', project?.namespace ?? '']);
    times.push(performance.now() - begin);
  }
  return median(times);
}

function print({ rate, accepted, ended, requests }: Loaded, { others }: Sent): void {
  const refused = others.size === 0 ? '' : `, other answers ${JSON.stringify([...others])}`;
  console.error(`${rate}/s: accepted ${accepted.toFixed(0)}/s, ended ${ended.toFixed(0)}/s${refused}`);
  const busy = [...requests].filter(([, perSecond]) => perSecond >= 0.1).toSorted(([, a], [, b]) => b - a);
  console.table(Object.fromEntries(busy.map(([key, perSecond]) => [key, perSecond.toFixed(1)])));
}

const sum = (requests: Map<string, number>, wanted: (verb: string, resource: string) => boolean) =>
  [...requests]
    .filter(([key]) => {
      const [verb = '', resource = ''] = key.split(' ');
      return wanted(verb, resource);
    })
    .reduce((all, [, perSecond]) => all + perSecond, 0);

const isRecord = (resource: string) => resource === 'workflowruns' || resource === 'workflowruns/status';

function figures(measured: Loaded[]): Figure[] {
  const all = measured.map(({ requests }) => sum(requests, () => true));
  const perRate = measured.flatMap((loaded, at) => figuresOf(loaded, all[at] ?? Number.NaN));
  const [, hundred = Number.NaN, thousand = Number.NaN] = all;
  return [
    ...perRate,
    {
      name: 'all requests at 1,000 calls/s beside 100 calls/s',
      value: thousand,
      unit: 'requests/s',
      ratio: { to: '100 calls/s', value: thousand / hundred },
      goal: { at: 'most', value: 1.2, of: 'ratio' },
    },
  ];
}

function figuresOf({ rate, accepted, ended, requests, kubectlMs }: Loaded, all: number): Figure[] {
  const at = `at ${rate.toLocaleString('en-GB')} calls/s`;
  const load: Figure[] =
    rate === 0
      ? []
      : [
          {
            name: `calls accepted ${at}`,
            value: accepted,
            unit: 'calls/s',
            ratio: { to: 'wanted', value: accepted / rate },
            goal: { at: 'least', value: 0.98, of: 'ratio' },
          },
          { name: `runs ended ${at}`, value: ended, unit: 'runs/s' },
        ];
  const recordWrites = sum(requests, (verb, resource) => WRITES.has(verb) && isRecord(resource));
  return [
    ...load,
    {
      name: `writes of records ${at}`,
      value: recordWrites,
      unit: 'requests/s',
      goal: { at: 'most', value: BUDGET.all, of: 'value' },
    },
    {
      name: `all writes ${at}`,
      value: sum(requests, (verb) => WRITES.has(verb)),
      unit: 'requests/s',
      goal: { at: 'most', value: BUDGET.all * 1.05, of: 'value' },
    },
    { name: `reads ${at}`, value: sum(requests, (verb) => !WRITES.has(verb)), unit: 'requests/s' },
    { name: `all requests ${at}`, value: all, unit: 'requests/s' },
    { name: `kubectl get, median, ${at}`, value: kubectlMs, unit: 'ms' },
  ];
}
