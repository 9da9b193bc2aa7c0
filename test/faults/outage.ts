/**
 * Redis, and then the API server, away for a minute: how the absence of the one is told, and what goes on
 * without the other.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { startAgain } from '../cluster/builtin/start-again.ts';
import { windlassNamespace } from '../support/installation/install.ts';
import { kubectl } from '../support/cluster/kubectl.ts';
import { pollUntil } from '../support/time/poll.ts';
import { processesOf, type Program } from '../support/process/processes.ts';
import { burdenMeasures, startBurden, tooHeavy } from './burden.ts';
import type { Violation } from './violation.ts';
import type { Attempt, EndedRun, FaultRecord, SentEvent } from './evidence.ts';
import { underLoad, type FaultRun, type Load as AnyLoad } from './load.ts';
import { NotSteady, steadyLoad, untilRecovered } from './recovery.ts';
import { isAccepted } from './sender.ts';
import type { Harness } from './harness.ts';
import { targetsOf } from './workflows.ts';

type Load = AnyLoad<Harness>;

export type OutageOptions = { harness: Harness; seconds: number; rate: number; tell: (line: string) => void };

/** From and until when somebody was away, by the wall clock. */
export type Outage = { from: number; until: number };

/** A run that starts at once and does not wait for the outage's end takes less. */
const EXECUTED_WITHIN_MS = 15_000;
const RECORDED_WITHIN_MS = 60_000;
const REFUSED_WITHIN_MS = 2_000;
const ACCEPTED_WITHIN_MS = 10_000;
/** In a shorter outage the first moments, in which each program notices it, would weigh too much. */
const WEIGHED_FROM_SECONDS = 30;
/** Requests that were under way when Redis went may be answered either way. */
const MARGIN_MS = 1_000;

/** Both, one after the other. */
export function runOutages({ harness, seconds, rate, tell }: OutageOptions): Promise<FaultRun> {
  const targets = targetsOf(harness.gateway.publicURL, harness.project);
  return underLoad({ harness, targets, rate, tell }, (load) => doOutages(load, seconds));
}

/** Gives why the run does not count, where it does not. */
export async function doOutages(load: Load, seconds: number): Promise<string | undefined> {
  try {
    // In this order: controllers of Kubernetes that lost the API server take half a minute to come back, and
    // one of them scales Redis.
    await withoutRedis(load, seconds);
    await withoutApiServer(load, seconds);
    return undefined;
  } catch (error) {
    if (!(error instanceof NotSteady)) throw error;
    return error.message;
  }
}

async function withoutApiServer(load: Load, seconds: number): Promise<void> {
  const { harness, sender, violations, measures, tell } = load;
  const fault = await beginFault(load, 'kill-kube-apiserver');
  const [server] = await processesOf(harness.cluster.name, 'kube-apiserver');
  if (!server) throw new Error('no kube-apiserver runs');
  process.kill(server.pid, 'SIGKILL');
  const outage = await measured(load, seconds, 'without API server', ['operator']);
  await startAgain(harness.cluster.name, 'kube-apiserver');
  const back = Date.now();
  const ended = await recorded(load, back);
  const after = ((Date.now() - back) / 1_000).toFixed(1);
  tell(`✓ ${seconds} s without API server: all is recorded ${after} s after its return`);
  violations.push(...notExecuted(sender.events, ended, outage));
  measures.push(
    { what: 'without API server: events', seen: executionOf(sender.events, ended, outage) },
    { what: 'API server back: all is recorded after', seen: `${after} s`, promised: '<= 60 s' },
  );
  await endFault(load, fault);
}

/** Lets the time pass and holds every program to what it may cost meanwhile. */
async function measured(
  { harness, violations, measures }: Load,
  seconds: number,
  when: string,
  mayRestart: readonly Program[] = [],
): Promise<Outage> {
  const endBurden = await startBurden(harness);
  const from = Date.now();
  await delay(seconds * 1_000);
  const until = Date.now();
  const burdens = seconds < WEIGHED_FROM_SECONDS ? [] : await endBurden();
  violations.push(...tooHeavy(burdens, when, mayRestart));
  if (burdens.length > 0) measures.push(...burdenMeasures(burdens, when));
  return { from, until };
}

/**
 * Every run that has ended by now, or that an answer named by now, is recorded, or kept as a line, within a
 * minute.
 */
async function recorded(load: Load, back: number): Promise<EndedRun[]> {
  const { harness, sender, violations } = load;
  const { store } = harness;
  const named = sender.events.flatMap(({ attempts }) => attempts.flatMap(({ run }) => run ?? []));
  const totals = await pollUntil('totals', () => store.totals(), { timeoutMs: 30_000 });
  const sum = totals.reduce(
    (all, { succeeded, failed, cancelled }) => all + succeeded + failed + cancelled,
    0,
  );
  let ended: EndedRun[] = [];
  let open = sum;
  const isDone = async () => {
    ended = (await store.ended()) ?? [];
    const names = new Set(ended.map(({ run }) => run));
    open = Math.max(sum - ended.length, named.filter((run) => !names.has(run)).length);
    return open <= 0;
  };
  const left = RECORDED_WITHIN_MS - (Date.now() - back);
  await pollUntil('records of all runs', isDone, { timeoutMs: left, everyMs: 500 }).catch(() => {
    const message = `${open} runs are not recorded 60 s after the return of the API server`;
    violations.push({ kind: 'not-recorded', message });
  });
  return ended;
}

async function withoutRedis(load: Load, seconds: number): Promise<void> {
  const { harness, sender, violations, measures, tell } = load;
  const fault = await beginFault(load, 'delete-redis');
  const scale = (replicas: number) =>
    kubectl(harness.cluster, [
      'scale',
      '-n',
      windlassNamespace,
      'statefulset/windlass-redis',
      `--replicas=${replicas}`,
    ]);
  await scale(0);
  const isGone = async () => (await processesOf(harness.cluster.name, 'redis')).length === 0;
  await pollUntil('the end of Redis', isGone, { timeoutMs: 60_000 });
  const outage = await measured(load, seconds, 'without Redis');
  await scale(1);
  await pollUntil('an answer of Redis', async () => (await harness.store.totals()) !== undefined, {
    timeoutMs: 60_000,
    everyMs: 50,
  });
  const back = Date.now();
  await endFault(load, fault);
  const { until } = outage;
  violations.push(...badRefusals(sender.events, outage), ...lateReturn(sender.events, until, back));
  // The first answer may come to an event before it comes to us.
  const first = (Math.max(0, firstAccepted(sender.events, until) - back) / 1_000).toFixed(1);
  tell(`✓ ${seconds} s without Redis: first 2xx ${first} s after its return`);
  measures.push(
    {
      what: 'without Redis: answers',
      seen: refusalsOf(sender.events, outage),
      promised: '503 with Retry-After, each in <= 2 s',
    },
    { what: 'Redis answers again: first 2xx after', seen: `${first} s`, promised: '<= 10 s' },
  );
}

function executionOf(events: readonly SentEvent[], ended: readonly EndedRun[], outage: Outage): string {
  const ends = new Map(ended.map((run) => [run.run, run]));
  const sent = events.filter(
    ({ refusal, attempts }) => refusal === undefined && isDuring(attempts[0], outage),
  );
  const accepted = sent.filter(({ attempts }) => isAccepted(attempts[0])).length;
  const executed = sent
    .map(({ attempts }) => ends.get(attempts[0]?.run ?? ''))
    .filter((run) => run !== undefined && run.endedAt <= outage.until).length;
  return `${sent.length} sent, ${accepted} accepted at once; of the runs that an answer named, ${executed} ended before its return`;
}

function refusalsOf(events: readonly SentEvent[], outage: Outage): string {
  const times = duringAll(events, outage).map(({ ms }) => ms);
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN;
  return `${sorted.length} answers; p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms`;
}

async function beginFault(load: Load, kind: FaultRecord['kind']): Promise<FaultRecord> {
  const loadBefore = await steadyLoad(load.sender, load.pulse, load.rate);
  const at = Date.now();
  const fault = { number: load.faults.length + 1, kind, target: 'outage', at, endedAt: at, loadBefore };
  load.begin(fault);
  return fault;
}

async function endFault(load: Load, fault: FaultRecord): Promise<void> {
  fault.endedAt = Date.now();
  await untilRecovered(fault, load, 120_000);
}

/**
 * Good events of the outage that were not accepted at once, or whose runs did not end while it lasted or soon
 * after they began.
 */
export function notExecuted(
  events: readonly SentEvent[],
  ended: readonly EndedRun[],
  outage: Outage,
): Violation[] {
  const ends = new Map(ended.map((run) => [run.run, run]));
  return events
    .filter(({ refusal, attempts }) => refusal === undefined && isDuring(attempts[0], outage))
    .flatMap(({ id, attempts }): Violation[] => {
      const [first] = attempts;
      if (!isAccepted(first)) {
        const message = `${id} was answered ${first?.status ?? first?.error} without API server`;
        return [{ kind: 'not-executed', event: id, message }];
      }
      const run = first?.run === undefined ? undefined : ends.get(first.run);
      if (!run || run.endedAt - run.acceptedAt <= EXECUTED_WITHIN_MS) return [];
      const seconds = Math.round((run.endedAt - run.acceptedAt) / 1_000);
      return [
        {
          kind: 'not-executed',
          event: id,
          run: run.run,
          message: `${run.run} took ${seconds} s without API server`,
        },
      ];
    });
}

/** Attempts of the outage that were not told at once, with 503, when to come again. */
export function badRefusals(events: readonly SentEvent[], outage: Outage): Violation[] {
  return duringAll(events, outage)
    .filter((attempt) => !isPromptRefusal(attempt))
    .map(({ id, status, error, ms }) => ({
      kind: 'bad-refusal' as const,
      event: id,
      message: `${id} was answered ${status ?? error ?? 'nothing'} after ${ms} ms without Redis`,
    }));
}

/** All attempts to have good events accepted while the outage lasted. */
function duringAll(
  events: readonly SentEvent[],
  { from, until }: Outage,
): (Attempt & Pick<SentEvent, 'id'>)[] {
  const outage = { from: from + MARGIN_MS, until: until - MARGIN_MS };
  return events
    .filter(({ refusal }) => refusal === undefined)
    .flatMap(({ id, attempts }) =>
      attempts.filter((attempt) => isDuring(attempt, outage)).map((attempt) => ({ id, ...attempt })),
    );
}

const isPromptRefusal = ({ status, retryAfter, ms }: Attempt): boolean =>
  status === 503 && retryAfter !== undefined && ms <= REFUSED_WITHIN_MS;

/** Nothing was accepted for too long after the return. */
export function lateReturn(events: readonly SentEvent[], until: number, back: number): Violation[] {
  const seconds = (firstAccepted(events, until) - back) / 1_000;
  if (seconds * 1_000 <= ACCEPTED_WITHIN_MS) return [];
  return [{ kind: 'late-return', message: `first 2xx ${seconds.toFixed(1)} s after the return of Redis` }];
}

/** When the first answer with 2xx came to what was sent after that moment. */
function firstAccepted(events: readonly SentEvent[], after: number): number {
  const answers = events
    .flatMap(({ attempts }) => attempts)
    .filter((attempt) => attempt.at >= after && isAccepted(attempt));
  return Math.min(...answers.map(({ at, ms }) => at + ms));
}

const isDuring = (attempt: Attempt | undefined, { from, until }: Outage): boolean =>
  attempt !== undefined && attempt.at >= from && attempt.at + attempt.ms <= until;
