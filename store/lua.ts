/**
 * The Lua that scripts of every kind share: the project's clock, and the check that the project has its data. `store/keys.ts` says what the
 * fields of `meta` hold.
 */
import type { ProjectUid } from './keys.ts';

/** The right to fill a project that is not open yet. See `runs/seed.ts`. */
export type Seeding = { project: ProjectUid; token: string };

/** How far the server's clock may go back before it is noticed, and how seldom the project's clock is written, in ms. */
const CLOCK_STEP_MS = 1_000;
/** By this part of the time that passes a project's clock comes nearer to the server's: so much later are waits meanwhile. */
const CLOCK_SLEW = 0.01;

/**
 * `wall`: milliseconds since 1970 by the store's clock, for what people read. `now`: the project's clock, the only one that is ever
 * compared. It is as the store's, but never goes back: where that does (somebody set it, or another server took its place), it goes on from
 * where it was, `ahead` of it, and comes back to it slowly. Needs `meta`.
 */
const CLOCK = `
local time = redis.call('TIME')
local wall = time[1] * 1000 + math.floor(time[2] / 1000)
local clock = redis.call('HMGET', meta, 'id', 'clock', 'ahead')
local last, ahead = tonumber(clock[2] or 0), tonumber(clock[3] or 0)
local now = wall + ahead
`;

/** Gives `now` and `wall` to a script that writes. Needs `meta`. */
export const NOW = `${CLOCK}
if now < last - ${CLOCK_STEP_MS} then
  now, ahead = last, last - wall
  redis.call('HSET', meta, 'ahead', ahead)
elseif clock[1] and now > last + ${CLOCK_STEP_MS} then
  if ahead > 0 then
    ahead = math.max(0, ahead - math.ceil(math.min(now - last, 60000) * ${CLOCK_SLEW}))
    redis.call('HSET', meta, 'ahead', ahead)
  end
  redis.call('HSET', meta, 'clock', now)
end
`;

/** Gives `now` to a script that only reads. Needs `meta`. */
export const READ_NOW = `${CLOCK}
now = math.max(now, last)
`;

/** Ends the script with an error where the store has lost its data. Needs `meta`. */
export const REQUIRE_STORE = `
if redis.call('HEXISTS', meta, 'id') == 0 then
  return redis.error_reply('NOLOG the run store is empty')
end
`;

/** The same, but a project that is being seeded with this token passes. Needs `meta`, `seeding` (a token, or empty). */
export const REQUIRE_STORE_OR_SEEDING = `
if seeding == '' or redis.call('HGET', meta, 'seeding') ~= seeding then
  ${REQUIRE_STORE}
end
`;
