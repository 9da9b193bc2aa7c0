/** Why a call of the run store failed, and which failures are outages. */

/**
 * Why a call failed: no answer, the store is empty or being seeded, it is full, or a key is of a wrong type.
 */
export type Unavailable = {
  outcome: 'unavailable';
  why: 'connection' | 'no-store' | 'full' | 'damaged';
  retryAfterSeconds: number;
};

/** The server's error where a project was closed because its data was moved (`move/`). */
export const MOVED = 'NOLOG the project was moved to another run store';

/** The call was not sent, its outcome is unknown, or it may be lost with the server. */
export class Unanswered extends Error {
  override readonly name = 'Unanswered';
}

/**
 * An error of the server. Not the client library's error, which contains the command with all arguments: data
 * of users, and hashes of passwords.
 */
export class Refusal extends Error {
  override readonly name = 'Refusal';

  constructor(answer: string) {
    // The server quotes arguments. In NOPERM it quotes only the name of the command.
    super(answer.startsWith('NOPERM') ? answer : answer.replace(/(?<=^|[\s(:=])'.*$/s, '…'));
  }
}

/** The call cannot be sent, for example because of too many arguments: a defect, not an outage. */
export class Unsendable extends Error {
  override readonly name = 'Unsendable';
}

/** The server's error message, if the error is the server's. */
export function serverError(error: unknown): string | undefined {
  return error instanceof Refusal ? error.message : undefined;
}

/** Whether the server found a key of a wrong type: somebody else has written it. */
export function isDamage(answer: string | undefined): boolean {
  return answer?.startsWith('WRONGTYPE') === true;
}

/** Whether the server became a replica: only a new connection can reach the primary. */
export function isDemotion(answer: string): boolean {
  return /^(READONLY|MASTERDOWN)\b/.test(answer);
}

/**
 * Whether another server may take the writes: this one is a replica now, has too few replicas, or names
 * another one.
 */
export function mayBeElsewhere(answer: string | undefined): boolean {
  return answer !== undefined && (isDemotion(answer) || /^(NOREPLICAS|MOVED|CLUSTERDOWN)\b/.test(answer));
}

/** Whether the server is a member of a Redis Cluster. */
export function isFromCluster(answer: string): boolean {
  return /^(MOVED|ASK|CLUSTERDOWN|CROSSSLOT)\b/.test(answer);
}

/** Whether the server refuses a key because of its slot: it has moved, moves, or belongs to no server. */
export function isSlotError(answer: string | undefined): boolean {
  return answer !== undefined && /^(MOVED|ASK|TRYAGAIN|CLUSTERDOWN)\b/.test(answer);
}

/** Temporary states of a server in which it refuses calls. */
const PASSING =
  /^(LOADING|BUSY|READONLY|MASTERDOWN|NOREPLICAS|MISCONF|TRYAGAIN|CLUSTERDOWN|CROSSSLOT|MOVED|ASK|UNBLOCKED|NOAUTH|WRONGPASS|NOPERM|UNKILLABLE)\b/;

/** A script that failed half way, in a slot that migrates or a Redis Cluster that is down. */
const IN_SCRIPT = /^ERR Script attempted to (access a non local key|execute a .*while the cluster is down)/;

/** The outage that the error stands for. Throws the error where it is a defect. */
export function unavailableFor(error: unknown): Unavailable {
  if (error instanceof Unanswered) return { outcome: 'unavailable', why: 'connection', retryAfterSeconds: 1 };
  const answer = serverError(error) ?? '';
  if (answer.startsWith('NOLOG')) return { outcome: 'unavailable', why: 'no-store', retryAfterSeconds: 5 };
  if (answer.startsWith('OOM')) return { outcome: 'unavailable', why: 'full', retryAfterSeconds: 10 };
  if (isDamage(answer)) return { outcome: 'unavailable', why: 'damaged', retryAfterSeconds: 10 };
  if (PASSING.test(answer) || IN_SCRIPT.test(answer))
    return { outcome: 'unavailable', why: 'connection', retryAfterSeconds: 2 };
  throw error;
}
