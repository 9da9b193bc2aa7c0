/**
 * When the webhook of a bot is registered or deleted, and what its condition says. Pure. A registration is
 * verified periodically, since anybody with the token can change it, unless the runners sleep. The deletion
 * of a Credential waits for its webhook to be deleted, for a limited time.
 */
import { clampMs } from '../shared/clampMs.ts';
import type { Registered } from '../../api/registration.ts';
import type { Finding } from '../shared/status.ts';
import type { RegistrationAnswer, SeenRegistration } from '../../store/requests/registrations.ts';
import { untilNextMs } from '../credential/decide.ts';

/** The bot is to be registered at the URL, not to be registered, or left as it is. */
export type DesiredRegistration = { url: string } | 'none' | 'unchanged';

export type RegistrationFacts = {
  desired: DesiredRegistration;
  hasFinalizer: boolean;
  /** Whether the Credential is still a bot of Telegram; otherwise no runner can be asked. */
  isBot: boolean;
  /** For how long the Credential has been being deleted; left out: it is not. */
  deletingMs?: number;
  /** Identifies the desired registration. */
  key: string;
  /** Whether a runner may read the token. */
  hasRunner: boolean;
  /** Whether the runners sleep, so that a request would wake them. */
  isAsleep: boolean;
  /** Undefined while the run store is unavailable. */
  seen: SeenRegistration | undefined;
};

export type RegistrationDecision = {
  /** What the condition of the trigger says; left out: nothing. */
  health?: Finding;
  /** Request it now, after this many consecutive failures. `wasSo`: it was registered as desired. */
  ask?: { failures: number; wasSo: boolean };
  /** Remove the finalizer: no registration is left, or the operator gave up for this reason. */
  release?: { gaveUp?: string };
  /** When to reconcile again at the latest; left out: on the next change. */
  againMs?: number;
};

/** The interval between verifications of a registration. */
const VERIFY_MS = 300_000;
/** While updates cannot be delivered. */
const UNDELIVERED_MS = 60_000;
/** For how long the deletion of a Credential waits. */
const DEADLINE_MS = 60_000;
const DELETING_MS = { leastMs: 500, mostMs: 2_000 };
const NO_RUNNER_MS = 30_000;
const STORE_UNAVAILABLE_MS = 5_000;
const CHECK = { leastMs: 500, mostMs: 30_000 };

export function decideRegistration(facts: RegistrationFacts): RegistrationDecision {
  const { desired, hasFinalizer } = facts;
  if (desired === 'unchanged') return { againMs: VERIFY_MS };
  if (desired !== 'none') return register(facts, desired.url);
  return hasFinalizer ? unregister(facts) : {};
}

/** The last registration that was not deleted, as far as the run store knows. */
export function registeredIn(seen: SeenRegistration | undefined): Registered | undefined {
  const result = seen?.answer?.result;
  if (!result?.works) return result?.registered;
  const { url, bot } = result;
  return url === undefined ? undefined : { url, ...(bot !== undefined && { bot }) };
}

function register(facts: RegistrationFacts, url: string): RegistrationDecision {
  const { key, hasRunner, seen } = facts;
  if (!seen) return { health: storeUnavailable, againMs: STORE_UNAVAILABLE_MS };
  const { now, answer } = seen;
  const { checkMs, mayAsk } = waitFor(facts, seen);
  if (answer?.key !== key) {
    const wasThere = answer?.result.works === true && answer.result.url === url;
    const health = wasThere ? registered : hasRunner ? pending : noRunner;
    if (mayAsk) return { health, ask: { failures: 0, wasSo: false }, againMs: CHECK.leastMs };
    return { health, againMs: hasRunner ? checkMs : NO_RUNNER_MS };
  }
  const health = healthOf(answer);
  const dueMs = answer.at + nextMs(answer) - now;
  if (dueMs > 0) return { health, againMs: clampMs(dueMs, { leastMs: CHECK.leastMs, mostMs: VERIFY_MS }) };
  // It is verified when they wake.
  if (facts.isAsleep) return { health, againMs: VERIFY_MS };
  if (!mayAsk) return { health, againMs: hasRunner ? checkMs : NO_RUNNER_MS };
  const { failures, result } = answer;
  return { health, ask: { failures, wasSo: result.works }, againMs: CHECK.leastMs };
}

function unregister(facts: RegistrationFacts): RegistrationDecision {
  const { key, deletingMs, seen } = facts;
  const answer = seen?.answer?.key === key ? seen.answer : undefined;
  const release = releaseFor(facts, answer);
  if (release) return { release };
  const soon = (ms: number): number => (deletingMs === undefined ? ms : clampMs(ms, DELETING_MS));
  if (!seen) return { againMs: soon(STORE_UNAVAILABLE_MS) };
  const { checkMs, mayAsk } = waitFor(facts, seen);
  const dueMs = answer ? answer.at + soon(untilNextMs(answer)) - seen.now : 0;
  if (dueMs > 0) return { againMs: soon(dueMs) };
  if (answer && facts.isAsleep && deletingMs === undefined) return { againMs: VERIFY_MS };
  if (!mayAsk) return { againMs: soon(facts.hasRunner ? checkMs : NO_RUNNER_MS) };
  return { ask: { failures: answer?.failures ?? 0, wasSo: false }, againMs: CHECK.leastMs };
}

/**
 * Whether the finalizer may be removed: the webhook is deleted, cannot be deleted, or the deadline has
 * passed.
 */
function releaseFor(
  { isBot, deletingMs }: RegistrationFacts,
  answer: RegistrationAnswer | undefined,
): RegistrationDecision['release'] {
  if (!isBot) return { gaveUp: 'the Credential is no longer a bot of Telegram' };
  const { result } = answer ?? {};
  if (result?.works) return {};
  // Without a valid token no runner can delete it, however long the operator waits.
  const isHopeless = result?.reason === 'KeyMissing' || result?.reason === 'Rejected';
  if (deletingMs === undefined || !(isHopeless || deletingMs >= DEADLINE_MS)) return undefined;
  return { gaveUp: result?.message ?? 'no runner has answered in time' };
}

/** A runner answers soon or never: the longer it takes, the less often the operator checks. */
function waitFor(
  { key, hasRunner, deletingMs }: RegistrationFacts,
  { now, waiting }: SeenRegistration,
): { checkMs: number; mayAsk: boolean } {
  const isRequested = waiting?.key === key;
  const checkMs = isRequested ? clampMs((now - waiting.askedAt) / 2, CHECK) : CHECK.mostMs;
  // A deleted project's runners are deleted, too: one that shuts down may still do it.
  return { checkMs, mayAsk: !isRequested && (hasRunner || deletingMs !== undefined) };
}

function nextMs(answer: RegistrationAnswer): number {
  const { failures, result } = answer;
  if (!result.works) return untilNextMs({ failures, result });
  return result.undelivered === undefined ? VERIFY_MS : UNDELIVERED_MS;
}

function healthOf({ result }: RegistrationAnswer): Finding {
  if (!result.works) {
    const status = result.reason === 'NotChecked' ? 'Unknown' : 'False';
    return { status, reason: result.reason, message: `The bot is not registered: ${result.message}` };
  }
  if (result.undelivered === undefined) return registered;
  const message = `Telegram could not deliver messages to the URL of the bot, and tries again: ${result.undelivered}`;
  return { status: 'False', reason: 'Unreachable', message };
}

export const registered: Finding = {
  status: 'True',
  reason: 'Registered',
  message: 'Telegram sends the messages of the bot to its URL.',
};
export const pending: Finding = {
  status: 'Unknown',
  reason: 'Pending',
  message: 'The bot is being registered.',
};
const noRunner: Finding = {
  status: 'Unknown',
  reason: 'Pending',
  message: 'Waiting for a runner to register the bot (kubectl get deployment windlass-runner).',
};
const storeUnavailable: Finding = {
  status: 'Unknown',
  reason: 'StoreUnavailable',
  message:
    'The run store cannot be reached, so the registration of the bot is not checked. The operator tries again.',
};
