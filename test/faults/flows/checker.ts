/** Compares what flows did outside and how their runs ended with what `docs/execution.md` promises. Pure. */
import type { Violation, ViolationKind } from '../violation.ts';
import { CALLS, RESUMED_KINDS, type FlowKind } from './workflows.ts';

/** A run as its record shows it. */
export type FlowRun = { run: string; phase: string; reason?: string; message?: string };

export type Flow = {
  kind: FlowKind;
  event: string;
  /** Left out if no gateway accepted the event in time. */
  run?: string;
  /** Of a loop: how many mails it sends. */
  mails?: number;
  /** True if the call of its callback was answered with 200. */
  isCalled?: boolean;
  /** True if it was unfinished when the run store lost its data. */
  isHit?: boolean;
  /** The run that resumed it. */
  resumed?: string;
};

/** One mail or call. `place`: the path of a call, the subject of a mail. */
export type FlowEffect = { place: string; event: string; key: string; body?: Record<string, unknown> };

export type FlowEvidence = {
  flows: readonly Flow[];
  runs: readonly FlowRun[];
  mails: readonly FlowEffect[];
  calls: readonly FlowEffect[];
};

/** What contradicts the promises, for each flow. */
export function checkFlows({ flows, runs, mails, calls }: FlowEvidence): Violation[] {
  const byName = new Map(runs.map((run) => [run.run, run]));
  const mailsOf = Map.groupBy(mails, ({ event }) => event);
  const callsOf = Map.groupBy(calls, ({ event }) => event);
  const alarms = Map.groupBy(
    calls.filter(({ place }) => place === '/alarm'),
    ({ body }) => String(body?.['run']),
  );
  return flows.flatMap((flow) => {
    if (flow.run === undefined) return [broken(flow, 'never-accepted', 'was accepted by no gateway')];
    const effects = { mails: mailsOf.get(flow.event) ?? [], calls: callsOf.get(flow.event) ?? [] };
    const first = byName.get(flow.run);
    const last = flow.resumed === undefined ? first : byName.get(flow.resumed);
    return [
      ...checkEnd(flow, first, last),
      ...checkMails(flow, last, effects.mails),
      ...checkCalls(flow, last, effects.calls),
      ...(flow.kind === 'failing' ? checkAlarm(flow, alarms.get(flow.run) ?? []) : []),
    ];
  });
}

function broken({ event, run, kind: of }: Flow, kind: ViolationKind, message: string): Violation {
  return { kind, event, ...(run !== undefined && { run }), message: `${of} ${event} (${run}): ${message}` };
}

const isTerminal = (run: FlowRun | undefined) =>
  run !== undefined && ['Succeeded', 'Failed', 'Cancelled'].includes(run.phase);

/** What the loss of a run store may cost: a result that only the run store had. */
const isTaken = ({ isHit = false }: Flow, run: FlowRun | undefined) =>
  isHit && run?.phase === 'Failed' && /DataLost/.test(`${run.reason} ${run.message}`);

const told = (run: FlowRun | undefined) =>
  run === undefined ? 'has no record' : `is ${run.phase} ${run.reason ?? ''}: ${run.message ?? ''}`;

const EXPECTED_FAILURES = ['NodeFailed', 'EffectUnknown'];

function checkEnd(flow: Flow, first: FlowRun | undefined, last: FlowRun | undefined): Violation[] {
  if (!isTerminal(first)) return [broken(flow, 'late', `the run ${told(first)}`)];
  const wrong = RESUMED_KINDS.includes(flow.kind) ? checkResumed(flow, first, last) : undefined;
  if (wrong) return [wrong];
  if (last?.phase === 'Succeeded' || isTaken(flow, last)) return [];
  if (flow.kind === 'once' && last?.phase === 'Failed' && last.reason === 'EffectUnknown') return [];
  return [broken(flow, 'failed', `the run ${told(last)}`)];
}

function checkResumed(
  flow: Flow,
  first: FlowRun | undefined,
  last: FlowRun | undefined,
): Violation | undefined {
  const isExpected = first?.phase === 'Failed' && EXPECTED_FAILURES.includes(first.reason ?? '');
  if (!isExpected) return broken(flow, 'failed', `the first run ${told(first)}`);
  if (flow.resumed === undefined) return broken(flow, 'failed', 'was not resumed');
  return isTerminal(last) ? undefined : broken(flow, 'late', `the resumed run ${told(last)}`);
}

function checkMails(flow: Flow, last: FlowRun | undefined, mails: readonly FlowEffect[]): Violation[] {
  const bySubject = Map.groupBy(mails, ({ place }) => place);
  const found: Violation[] = [];
  for (const [subject, sent] of bySubject) {
    if (new Set(sent.map(({ key }) => key)).size > 1)
      found.push(broken(flow, 'effect-under-two-keys', `the mail "${subject}" has several Message-IDs`));
    if (flow.kind !== 'repeated' && sent.length > 1)
      found.push(broken(flow, 'effect-twice', `the mail "${subject}" was sent ${sent.length} times`));
  }
  if (flow.mails !== undefined && last?.phase === 'Succeeded' && bySubject.size !== flow.mails)
    found.push(broken(flow, 'effect-missing', `${bySubject.size} of ${flow.mails} mails were sent`));
  return found;
}

function checkCalls(flow: Flow, last: FlowRun | undefined, calls: readonly FlowEffect[]): Violation[] {
  if (flow.kind === 'callback' && flow.isCalled !== true)
    return [broken(flow, 'wrong-answer', 'the call of its URL was not answered with 200')];
  return CALLS[flow.kind].flatMap((path): Violation[] => {
    const made = calls.filter(({ place }) => place === path);
    const keys = new Set(made.map(({ key }) => key));
    if (keys.size === 0 && isTaken(flow, last)) return [];
    if (keys.size === 0) return [broken(flow, 'effect-missing', `${path} was not called`)];
    if (keys.size > 1)
      return [broken(flow, 'effect-under-two-keys', `${path} was called under ${[...keys].join(', ')}`)];
    const wrong = made.find(({ body }) => path === '/result' && body?.['said'] !== flow.event);
    return wrong ? [broken(flow, 'wrong-answer', `${path} got ${JSON.stringify(wrong.body)}`)] : [];
  });
}

function checkAlarm(flow: Flow, calls: readonly FlowEffect[]): Violation[] {
  const keys = new Set(calls.map(({ key }) => key));
  if (keys.size === 1) return [];
  const kind = keys.size === 0 ? 'effect-missing' : 'effect-under-two-keys';
  return [broken(flow, kind, `its failure started ${keys.size} error workflows`)];
}
