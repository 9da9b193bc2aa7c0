/** Counts refusals by reason. Reasons are a closed list: callers cannot choose them. */

export const REFUSAL_REASONS = [
  'connections',
  'connections-per-address',
  'connection-gave-way',
  'in-flight-bytes',
  'waiting',
  'body-size',
  'event-size',
  'body-pieces',
  'header-size',
  'time',
  'malformed',
  'tls-handshake',
  'rate-per-route',
  'rate-per-project',
  'rate-per-address',
  'rate-per-session',
  'rate-unverified',
] as const;

export type RefusalReason = (typeof REFUSAL_REASONS)[number];

export type Refusals = Record<RefusalReason, number>;

export function createRefusals(): Refusals {
  return Object.fromEntries(REFUSAL_REASONS.map((reason) => [reason, 0])) as Refusals;
}
