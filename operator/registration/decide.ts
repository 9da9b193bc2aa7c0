/**
 * When the webhook of a bot is registered or deleted, and what there is to say of it. Pure. What is registered is looked at again
 * now and then, since whoever has the token can change it; deleting a Credential waits for the webhook to be deleted, and not for long.
 */
import type { Registered } from '../../api/registration.ts';
import type { PollHealth } from '../poll/health.ts';
import type { RegistrationAnswer, SeenRegistration } from '../../store/requests/registrations.ts';
import { untilNextMs } from '../credential/decide.ts';

/** What is to be: registered there, not registered, or whatever is. */
export type Wish = { at: string } | 'nowhere' | 'as it is';

export type RegistrationFacts = {
  wish: Wish;
  isMarked: boolean;
  /** Whether it is a bot of Telegram still: else there is nothing that could be asked. */
  isBot: boolean;
  /** For how long the Credential has been waiting to go; left out: it stays. */
  goingMs?: number;
  /** Names what is to be. */
  key: string;
  /** Whether there is a runner that may read the token. */
  hasRunner: boolean;
  /** Undefined while the run store cannot be asked. */
  seen: SeenRegistration | undefined;
};

export type RegistrationDecision = {
  /** How the trigger is; left out: there is nothing to say. */
  health?: PollHealth;
  /** It is to be asked for now, after so many failures in a row. `wasSo`: it was as it is to be. */
  ask?: { failures: number; wasSo: boolean };
  /** There is nothing left to take back, or it is given up for this reason. */
  release?: { gaveUp?: string };
  /** When to look again at the latest; left out: whatever changes wakes it. */
  againMs?: number;
};

/** From one look at what is registered to the next. */
const VERIFY_MS = 300_000;
/** While updates cannot be delivered. */
const UNDELIVERED_MS = 60_000;
/** For how long deleting a Credential waits. */
const DEADLINE_MS = 60_000;
const GOING_MS = { leastMs: 500, mostMs: 2_000 };
const NO_RUNNER_MS = 30_000;
const STORE_AWAY_MS = 5_000;
const LOOK = { leastMs: 500, mostMs: 30_000 };

export function decideRegistration(facts: RegistrationFacts): RegistrationDecision {
  const { wish, isMarked } = facts;
  if (wish === 'as it is') return { againMs: VERIFY_MS };
  if (wish !== 'nowhere') return register(facts, wish.at);
  return isMarked ? takeBack(facts) : {};
}

/**
 * What was registered last and not taken back, as far as the store knows. It is known from nothing else, so that an operator that was ended after
 * it had set the mark leaves a bot that begins.
 */
export function registeredIn(seen: SeenRegistration | undefined): Registered | undefined {
  const result = seen?.answer?.result;
  if (!result?.works) return result?.registered;
  const { url, bot } = result;
  return url === undefined ? undefined : { url, ...(bot !== undefined && { bot }) };
}

function register(facts: RegistrationFacts, url: string): RegistrationDecision {
  const { key, hasRunner, seen } = facts;
  if (!seen) return { health: storeAway, againMs: STORE_AWAY_MS };
  const { now, answer } = seen;
  const { lookMs, mayAsk } = waitFor(facts, seen);
  if (answer?.key !== key) {
    const wasThere = answer?.result.works === true && answer.result.url === url;
    const health = wasThere ? registered : hasRunner ? pending : noRunner;
    if (mayAsk) return { health, ask: { failures: 0, wasSo: false }, againMs: LOOK.leastMs };
    return { health, againMs: hasRunner ? lookMs : NO_RUNNER_MS };
  }
  const health = healthOf(answer);
  const dueMs = answer.at + nextMs(answer) - now;
  if (dueMs > 0) return { health, againMs: clamp(dueMs, { leastMs: LOOK.leastMs, mostMs: VERIFY_MS }) };
  if (!mayAsk) return { health, againMs: hasRunner ? lookMs : NO_RUNNER_MS };
  const { failures, result } = answer;
  return { health, ask: { failures, wasSo: result.works }, againMs: LOOK.leastMs };
}

function takeBack(facts: RegistrationFacts): RegistrationDecision {
  const { key, goingMs, seen } = facts;
  const answer = seen?.answer?.key === key ? seen.answer : undefined;
  const release = releaseFor(facts, answer);
  if (release) return { release };
  const soon = (ms: number): number => (goingMs === undefined ? ms : clamp(ms, GOING_MS));
  if (!seen) return { againMs: soon(STORE_AWAY_MS) };
  const { lookMs, mayAsk } = waitFor(facts, seen);
  const dueMs = answer ? answer.at + soon(untilNextMs(answer)) - seen.now : 0;
  if (dueMs > 0) return { againMs: soon(dueMs) };
  if (!mayAsk) return { againMs: soon(facts.hasRunner ? lookMs : NO_RUNNER_MS) };
  return { ask: { failures: answer?.failures ?? 0, wasSo: false }, againMs: LOOK.leastMs };
}

/** Whether the mark may go: it is done, or nobody can do it, or there was time enough. */
function releaseFor(
  { isBot, goingMs }: RegistrationFacts,
  answer: RegistrationAnswer | undefined,
): RegistrationDecision['release'] {
  if (!isBot) return { gaveUp: 'the Credential is not of kind bot for Telegram any more' };
  const { result } = answer ?? {};
  if (result?.works) return {};
  // Without the token nobody can do it, however long is waited.
  const isHopeless = result?.reason === 'KeyMissing' || result?.reason === 'Rejected';
  if (goingMs === undefined || !(isHopeless || goingMs >= DEADLINE_MS)) return undefined;
  return { gaveUp: result?.message ?? 'no runner has answered in time' };
}

/** Who was asked answers soon, or never: the longer it takes, the less often there is a look. */
function waitFor(
  { key, hasRunner, goingMs }: RegistrationFacts,
  { now, waiting }: SeenRegistration,
): { lookMs: number; mayAsk: boolean } {
  const isAsked = waiting?.key === key;
  const lookMs = isAsked ? clamp((now - waiting.askedAt) / 2, LOOK) : LOOK.mostMs;
  // With a project that is deleted its runners are: one that leaves just now may still do it.
  return { lookMs, mayAsk: !isAsked && (hasRunner || goingMs !== undefined) };
}

function nextMs(answer: RegistrationAnswer): number {
  const { failures, result } = answer;
  if (!result.works) return untilNextMs({ failures, result });
  return result.undelivered === undefined ? VERIFY_MS : UNDELIVERED_MS;
}

function healthOf({ result }: RegistrationAnswer): PollHealth {
  if (!result.works) {
    const status = result.reason === 'NotChecked' ? 'Unknown' : 'False';
    return { status, reason: result.reason, message: `The bot is not registered: ${result.message}` };
  }
  if (result.undelivered === undefined) return registered;
  const message = `Telegram could not deliver what was written to the bot, and tries again: ${result.undelivered}`;
  return { status: 'False', reason: 'Unreachable', message };
}

export const registered: PollHealth = {
  status: 'True',
  reason: 'Registered',
  message: 'Telegram sends what is written to the bot to the URL of the bot.',
};
export const pending: PollHealth = {
  status: 'Unknown',
  reason: 'Pending',
  message: 'The bot is being registered.',
};
const noRunner: PollHealth = {
  status: 'Unknown',
  reason: 'Pending',
  message: 'Waiting for a runner to register the bot (kubectl get deployment windlass-runner).',
};
const storeAway: PollHealth = {
  status: 'Unknown',
  reason: 'StoreUnavailable',
  message:
    'The run store cannot be reached, so the registration of the bot is not checked. This is tried again.',
};

function clamp(ms: number, { leastMs, mostMs }: { leastMs: number; mostMs: number }): number {
  return Math.min(Math.max(ms, leastMs), mostMs);
}
