/** The API server, and then Redis, away for a minute: what goes on without the one, and how the other's absence is told. */
import { setTimeout as delay } from 'node:timers/promises';
import { startAgain } from '../cluster/builtin/start-again.ts';
import { windlassNamespace } from '../support/install.ts';
import { kubectl } from '../support/kubectl.ts';
import { pollUntil } from '../support/poll.ts';
import { processesOf } from '../support/processes.ts';
import type { Violation } from './checker.ts';
import type { Attempt, EndedRun, FaultRecord, SentEvent } from './evidence.ts';
import { underLoad, type FaultRun, type Load } from './load.ts';
import { NotSteady, steadyLoad, untilRecovered } from './recovery.ts';
import { isAccepted } from './sender.ts';
import type { Stage } from './stage.ts';
import { targetsOf } from './workflows.ts';

export type OutageOptions = { stage: Stage; seconds: number; rate: number; tell: (line: string) => void };

/** From and until when somebody was away, by the wall clock. */
export type Outage = { from: number; until: number };

/** A run that starts at once and does not wait for the outage's end takes less. */
const EXECUTED_WITHIN_MS = 15_000;
const RECORDED_WITHIN_MS = 60_000;
const REFUSED_WITHIN_MS = 2_000;
const ACCEPTED_WITHIN_MS = 10_000;
/** Requests that were under way when Redis went may be answered either way. */
const MARGIN_MS = 1_000;

/** Both, one after the other. */
export function runOutages({ stage, seconds, rate, tell }: OutageOptions): Promise<FaultRun> {
  const targets = targetsOf(stage.gateway.publicURL, stage.project);
  return underLoad({ stage, targets, rate, tell }, (load) => doOutages(load, seconds));
}

/** Gives why the run does not count, where it does not. */
export async function doOutages(load: Load, seconds: number): Promise<string | undefined> {
  try {
    await withoutApiServer(load, seconds);
    await withoutRedis(load, seconds);
    return undefined;
  } catch (error) {
    if (!(error instanceof NotSteady)) throw error;
    return error.message;
  }
}

async function withoutApiServer(load: Load, seconds: number): Promise<void> {
  const { stage, sender, violations, tell } = load;
  const fault = await beginFault(load, 'kill-kube-apiserver');
  const [server] = await processesOf(stage.cluster.name, 'kube-apiserver');
  if (!server) throw new Error('no kube-apiserver runs');
  process.kill(server.pid, 'SIGKILL');
  const from = Date.now();
  await delay(seconds * 1_000);
  const until = Date.now();
  await startAgain(stage.cluster.name, 'kube-apiserver');
  const back = Date.now();
  const ended = await recorded(load, back);
  tell(
    `✓ ${seconds} s without API server: all is recorded ${((Date.now() - back) / 1_000).toFixed(1)} s after its return`,
  );
  violations.push(...notExecuted(sender.events, ended, { from, until }));
  await endFault(load, fault);
}

/** Every run that has ended by now is recorded, or kept as a line, within a minute. */
async function recorded({ stage: { store }, violations }: Load, back: number): Promise<EndedRun[]> {
  const totals = await pollUntil('totals', () => store.totals(), { timeoutMs: 30_000 });
  const sum = totals.reduce(
    (all, { succeeded, failed, cancelled }) => all + succeeded + failed + cancelled,
    0,
  );
  let ended: EndedRun[] = [];
  const isDone = async () => {
    ended = (await store.ended()) ?? [];
    return ended.length >= sum;
  };
  const left = RECORDED_WITHIN_MS - (Date.now() - back);
  await pollUntil('records of all runs', isDone, { timeoutMs: left, everyMs: 500 }).catch(() => {
    const message = `${sum - ended.length} runs are not recorded 60 s after the return of the API server`;
    violations.push({ kind: 'not-recorded', message });
  });
  return ended;
}

async function withoutRedis(load: Load, seconds: number): Promise<void> {
  const { stage, sender, violations, tell } = load;
  const fault = await beginFault(load, 'delete-redis');
  const scale = (replicas: number) =>
    kubectl(stage.cluster, [
      'scale',
      '-n',
      windlassNamespace,
      'statefulset/windlass-redis',
      `--replicas=${replicas}`,
    ]);
  await scale(0);
  const isGone = async () => (await processesOf(stage.cluster.name, 'redis')).length === 0;
  await pollUntil('the end of Redis', isGone, { timeoutMs: 60_000 });
  const from = Date.now();
  await delay(seconds * 1_000);
  const until = Date.now();
  await scale(1);
  await pollUntil('an answer of Redis', async () => (await stage.store.totals()) !== undefined, {
    timeoutMs: 60_000,
    everyMs: 50,
  });
  const back = Date.now();
  await endFault(load, fault);
  violations.push(...badRefusals(sender.events, { from, until }), ...lateReturn(sender.events, until, back));
  const first = firstAccepted(sender.events, until);
  tell(`✓ ${seconds} s without Redis: first 2xx ${((first - back) / 1_000).toFixed(1)} s after its return`);
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

/** Good events of the outage that were not accepted at once, or whose runs did not end while it lasted or soon after they began. */
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
export function badRefusals(events: readonly SentEvent[], { from, until }: Outage): Violation[] {
  const outage = { from: from + MARGIN_MS, until: until - MARGIN_MS };
  return events
    .filter(({ refusal }) => refusal === undefined)
    .flatMap(({ id, attempts }) =>
      attempts
        .filter((attempt) => isDuring(attempt, outage) && !isPromptRefusal(attempt))
        .map(({ status, error, ms }) => ({
          kind: 'bad-refusal' as const,
          event: id,
          message: `${id} was answered ${status ?? error ?? 'nothing'} after ${ms} ms without Redis`,
        })),
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
