/**
 * When a credential is checked, and what its conditions `Ready` and `Checked` say of it. Pure. It is checked when it or a Secret of it has changed, when
 * somebody asks for it, daily, and again and again while it does not work: soon where the other side was not there, with growing patience where it
 * refused, since accounts are locked after too many logins.
 */
import type { CheckResult } from '../../api/check.ts';
import type { Reason } from '../../api/conditions.ts';
import type { Condition } from '../../kube/resource.ts';
import type { CheckAnswer } from '../../store/requests/checks.ts';
import type { Finding } from '../shared/status.ts';
import type { CheckFacts } from './facts.ts';

export type Decision = {
  /** What the condition says; undefined: it stays as it is. */
  finding?: Finding;
  /** What the condition `Checked` says; undefined: it stays as it is. */
  checked?: Finding;
  /** What was found of the credential as it is now. */
  answer?: Answer;
  /** It is to be checked now, after so many failures in a row. */
  ask?: { failures: number };
  /** It will be checked as it is now, and was not yet. */
  isUntried?: boolean;
  /** When to look again at the latest. */
  againMs: number;
};

const DAY_MS = 24 * 3_600_000;
/** What needs no second look by itself: whatever changes it wakes the credential. */
const QUIET_MS = 300_000;
/** While there is no runner: whoever comes wakes the credential, too. */
const NO_RUNNER_MS = 30_000;
const STORE_AWAY_MS = 5_000;
const LOOK = { leastMs: 500, mostMs: 30_000 };
const AWAY = { firstMs: 5_000, mostMs: 20_000 };
const REFUSED = { firstMs: 20_000, mostMs: 3_600_000 };

/** `before` is the condition as it stands, `generation` that of the spec. */
export function decide(facts: CheckFacts, before: Condition | undefined, generation: number): Decision {
  const { key, isUsed, hasRunner, seen } = facts;
  if (!isUsed) return ofUnused(facts, before, generation);
  const untriedFor = (why: Finding) => ({
    ...kept(before, generation, why),
    checked: why,
    isUntried: true,
  });
  if (!seen) return { ...untriedFor(storeAway), againMs: STORE_AWAY_MS };
  const { now, waiting, answer } = seen;
  const isAsked = waiting?.key === key;
  // Who was asked answers soon, or never: the longer it takes, the less often there is a look.
  const lookMs = isAsked ? clamp((now - waiting.askedAt) / 2, LOOK) : QUIET_MS;
  const mayAsk = !isAsked && hasRunner;
  if (answer?.key === key) return tried(answer, now, { lookMs, mayAsk });
  const untried = untriedFor(hasRunner ? asked : noRunner);
  return mayAsk
    ? { ...untried, ask: { failures: 0 }, againMs: LOOK.leastMs }
    : { ...untried, againMs: hasRunner ? lookMs : NO_RUNNER_MS };
}

/**
 * A credential that no workflow names is ready when its Secrets are complete. The result of a check counts for a day: there is no
 * further check by itself.
 */
function ofUnused({ key, seen }: CheckFacts, before: Condition | undefined, generation: number): Decision {
  // While the run store is unavailable the last result stays.
  if (!seen && isResult(before, generation)) return { againMs: STORE_AWAY_MS };
  const answer = seen?.answer;
  const counts = answer?.key === key && seen !== undefined && seen.now - answer.at < DAY_MS;
  if (!counts) return { finding: unused, checked: unchecked, againMs: QUIET_MS };
  const checked = findingOf(answer.result);
  return { finding: checked.status === 'Unknown' ? unused : checked, checked, answer, againMs: QUIET_MS };
}

/** Of an account that is connected: `Ready` says so, unless a check has shown that it does not work. */
export function decideConnected(
  facts: CheckFacts,
  connected: Finding,
  before: Condition | undefined,
  generation: number,
): Decision {
  const wasTried = before?.reason === 'Rejected' || before?.reason === 'Unreachable';
  const decision = decide(facts, wasTried ? before : undefined, generation);
  const isWrong = decision.finding === undefined || decision.finding.status === 'False';
  return isWrong ? decision : { ...decision, finding: connected };
}

type Answer = CheckAnswer & { at: number };

function tried(
  answer: Answer,
  now: number,
  { lookMs, mayAsk }: { lookMs: number; mayAsk: boolean },
): Decision {
  const dueMs = answer.at + untilNextMs(answer) - now;
  const isUntried = !answer.result.works && answer.result.reason === 'NotChecked';
  const finding = findingOf(answer.result);
  const found = { finding, checked: finding, answer, isUntried };
  if (dueMs > 0) return { ...found, againMs: clamp(dueMs, { leastMs: LOOK.leastMs, mostMs: lookMs }) };
  if (!mayAsk) return { ...found, againMs: lookMs };
  return { ...found, ask: { failures: answer.failures }, againMs: LOOK.leastMs };
}

/** An answer, as far as it counts here. */
type Failing = {
  failures: number;
  result: { works: true } | Extract<CheckResult, { works: false }>;
};

/** From one check to the next. */
export function untilNextMs({ failures, result }: Failing): number {
  if (result.works) return DAY_MS;
  const isAway = result.reason === 'Unreachable' || result.reason === 'NotChecked';
  const { firstMs, mostMs } = isAway ? AWAY : REFUSED;
  const patience = Math.min(firstMs * 2 ** Math.min(failures - 1, 20), mostMs);
  return Math.max(patience, result.retryAfterMs ?? 0);
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
const storeAway: Finding = {
  status: 'Unknown',
  reason: 'StoreUnavailable',
  message: 'Not checked: the run store cannot be reached. This is tried again.',
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

/** What `Checked` says of a credential that cannot be checked as it is. */
export const INCOMPLETE: Finding = {
  status: 'Unknown',
  reason: 'NotChecked',
  message: 'Not checked: see the condition Ready.',
};

/** What `Checked` says: the result for the same spec stays until the next check. */
export function checkedAfter(
  { checked, answer, isUntried }: Decision,
  before: Condition | undefined,
  generation: number,
): Finding | undefined {
  const isAwaited = isUntried === true && answer === undefined;
  return checked && isAwaited ? kept(before, generation, checked).finding : checked;
}

/** What was found of the same spec stays until more is known, so that a changed Secret does not make everything unready. */
function kept(before: Condition | undefined, generation: number, otherwise: Finding): { finding?: Finding } {
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

function clamp(ms: number, { leastMs, mostMs }: { leastMs: number; mostMs: number }): number {
  return Math.min(Math.max(ms, leastMs), mostMs);
}
