/**
 * When a credential is checked, and what its conditions `Ready` and `Checked` say. Pure. It is checked when
 * it or one of its Secrets changes, on request, daily, and repeatedly while it does not work: soon if the
 * provider was unreachable, with a growing back-off if it refused, since providers lock accounts after too
 * many logins.
 */
import { clampMs } from '../shared/clampMs.ts';
import type { CheckResult } from '../../api/check.ts';
import type { Reason } from '../../api/conditions.ts';
import type { Condition } from '../../kube/resource.ts';
import type { CheckAnswer } from '../../store/requests/checks.ts';
import type { Finding } from '../shared/status.ts';
import { isSameButToken } from './checkKey.ts';
import type { CheckFacts } from './facts.ts';

export type Decision = {
  /** The finding of `Ready`; undefined: it stays as it is. */
  finding?: Finding;
  /** The finding of `Checked`; undefined: it stays as it is. */
  checked?: Finding;
  /** The answer for the credential as it is now. */
  answer?: Answer;
  /** Request a check now, after this many consecutive failures. */
  ask?: { failures: number };
  /** It has not been checked as it is now, and will be. */
  isUnchecked?: boolean;
  /** When to reconcile again at the latest. */
  againMs: number;
};

const DAY_MS = 24 * 3_600_000;
/** If only a change matters, which causes a reconcile itself. */
const QUIET_MS = 300_000;
/** While there is no runner: a new one causes a reconcile, too. */
const NO_RUNNER_MS = 30_000;
const STORE_UNAVAILABLE_MS = 5_000;
const CHECK = { leastMs: 500, mostMs: 30_000 };
const UNREACHABLE = { firstMs: 5_000, mostMs: 20_000 };
const REFUSED = { firstMs: 20_000, mostMs: 3_600_000 };

/** `before` is the current condition, `generation` that of the spec. */
export function decide(facts: CheckFacts, before: Condition | undefined, generation: number): Decision {
  const { key, isUsed, hasRunner, isAsleep, seen } = facts;
  if (!isUsed) return decideUnused(facts, before, generation);
  const uncheckedFor = (why: Finding) => ({
    ...unlessChecked(before, generation, why),
    checked: why,
    isUnchecked: true,
  });
  if (!seen) return { ...uncheckedFor(storeUnavailable), againMs: STORE_UNAVAILABLE_MS };
  const { now, waiting, answer } = seen;
  const isAsked = waiting?.key === key;
  // A runner answers soon or never: the longer it takes, the less often the operator checks.
  const checkMs = isAsked ? clampMs((now - waiting.askedAt) / 2, CHECK) : QUIET_MS;
  // What was checked before is not checked again while the runners sleep: it waits until they wake.
  const isKnown = answer !== undefined && (isAsleep ? isSameButToken(answer.key, key) : answer.key === key);
  const mayAsk = !isAsked && hasRunner;
  if (isKnown) return decideChecked(answer, now, { checkMs, mayAsk: mayAsk && !isAsleep });
  const notChecked = uncheckedFor(hasRunner ? asked : noRunner);
  return mayAsk
    ? { ...notChecked, ask: { failures: 0 }, againMs: CHECK.leastMs }
    : { ...notChecked, againMs: hasRunner ? checkMs : NO_RUNNER_MS };
}

/**
 * A credential that no workflow names is ready if its Secrets are complete. The result of a requested check
 * counts for a day.
 */
function decideUnused(
  { key, seen }: CheckFacts,
  before: Condition | undefined,
  generation: number,
): Decision {
  // While the run store is unavailable the last result stays.
  if (!seen && isResult(before, generation)) return { againMs: STORE_UNAVAILABLE_MS };
  const answer = seen?.answer;
  const counts = answer?.key === key && seen !== undefined && seen.now - answer.at < DAY_MS;
  if (!counts) return { finding: unused, checked: unchecked, againMs: QUIET_MS };
  const checked = findingOf(answer.result);
  return { finding: checked.status === 'Unknown' ? unused : checked, checked, answer, againMs: QUIET_MS };
}

/** For an account: `Ready` reports the connection, unless a check showed that it does not work. */
export function decideConnected(
  facts: CheckFacts,
  connected: Finding,
  before: Condition | undefined,
  generation: number,
): Decision {
  const wasChecked = before?.reason === 'Rejected' || before?.reason === 'Unreachable';
  const decision = decide(facts, wasChecked ? before : undefined, generation);
  const isWrong = decision.finding === undefined || decision.finding.status === 'False';
  return isWrong ? decision : { ...decision, finding: connected };
}

type Answer = CheckAnswer & { at: number };

function decideChecked(
  answer: Answer,
  now: number,
  { checkMs, mayAsk }: { checkMs: number; mayAsk: boolean },
): Decision {
  const dueMs = answer.at + untilNextMs(answer) - now;
  const isUnchecked = !answer.result.works && answer.result.reason === 'NotChecked';
  const finding = findingOf(answer.result);
  const found = { finding, checked: finding, answer, isUnchecked };
  if (dueMs > 0) return { ...found, againMs: clampMs(dueMs, { leastMs: CHECK.leastMs, mostMs: checkMs }) };
  if (!mayAsk) return { ...found, againMs: checkMs };
  return { ...found, ask: { failures: answer.failures }, againMs: CHECK.leastMs };
}

/** The part of an answer that the back-off depends on. */
type Failing = {
  failures: number;
  result: { works: true } | Extract<CheckResult, { works: false }>;
};

/** The time from one check to the next, in milliseconds. */
export function untilNextMs({ failures, result }: Failing): number {
  if (result.works) return DAY_MS;
  const isUnreachable = result.reason === 'Unreachable' || result.reason === 'NotChecked';
  const { firstMs, mostMs } = isUnreachable ? UNREACHABLE : REFUSED;
  const backoffMs = Math.min(firstMs * 2 ** Math.min(failures - 1, 20), mostMs);
  return Math.max(backoffMs, result.retryAfterMs ?? 0);
}

const unused: Finding = {
  status: 'True',
  reason: 'Unused',
  message:
    'The Secret and its keys exist. No workflow of this namespace names the credential, so it was not checked.',
};
const unchecked: Finding = {
  status: 'Unknown',
  reason: 'NotChecked',
  message: 'Not checked: no workflow of this namespace names it. It is checked as soon as one does.',
};
const storeUnavailable: Finding = {
  status: 'Unknown',
  reason: 'StoreUnavailable',
  message: 'Not checked: the run store cannot be reached. The operator tries again.',
};
const noRunner: Finding = {
  status: 'Unknown',
  reason: 'NotChecked',
  message: 'Waiting for a runner to check it (kubectl get deployment windlass-runner).',
};
const asked: Finding = { status: 'Unknown', reason: 'NotChecked', message: 'The check is in progress.' };

/** The reasons of a credential that was checked. */
const OF_CHECKS: ReadonlySet<string> = new Set<Reason>([
  'Checked',
  'Rejected',
  'Unreachable',
  'Expired',
  'MissingScope',
]);

/** The finding of `Checked` for a credential that cannot be checked as it is. */
export const INCOMPLETE: Finding = {
  status: 'Unknown',
  reason: 'NotChecked',
  message: 'Not checked: see the condition Ready.',
};

/** The finding of `Checked`: the result for the same spec stays until the next check. */
export function checkedAfter(
  { checked, answer, isUnchecked }: Decision,
  before: Condition | undefined,
  generation: number,
): Finding | undefined {
  const isAwaited = isUnchecked === true && answer === undefined;
  return checked && isAwaited ? unlessChecked(before, generation, checked).finding : checked;
}

/**
 * A result for the same spec stays until the next one, so that a changed Secret does not make workflows
 * unready.
 */
function unlessChecked(
  before: Condition | undefined,
  generation: number,
  otherwise: Finding,
): { finding?: Finding } {
  return isResult(before, generation) ? {} : { finding: otherwise };
}

/** Whether the condition is the result of a check of the same spec. */
function isResult(before: Condition | undefined, generation: number): boolean {
  return before?.observedGeneration === generation && OF_CHECKS.has(before.reason);
}

function findingOf(result: CheckResult): Finding {
  const { message } = result;
  if (result.works) return { status: 'True', reason: 'Checked', message };
  return { status: result.reason === 'NotChecked' ? 'Unknown' : 'False', reason: result.reason, message };
}
