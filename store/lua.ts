/**
 * The Lua that scripts of every kind share: the clock of a project, and the check that the project has its
 * data. `store/keys.ts` says what the fields of `meta` hold.
 */
import type { ProjectUid } from './keys.ts';
import { defineFragment } from './script.ts';

/** The right to fill a project that is not open yet. See `runs/seed.ts`. */
export type Seeding = { project: ProjectUid; token: string };

/**
 * By how much the server's clock may go back unnoticed, and how often the project's clock is written, in ms.
 */
export const CLOCK_STEP_MS = 1_000;
/**
 * The part of the elapsed time by which a project's clock that is ahead approaches the server's. Waits are
 * longer by as much.
 */
const CLOCK_SLEW = 0.01;

/** See `CLOCK`. The script has read the fields `id`, `clock` and `ahead` of `meta`. */
const CLOCK_OF_READ = defineFragment({
  needs: ['last', 'ahead'],
  gives: ['time', 'wall', 'now'],
  lua: `
local time = redis.call('TIME')
local wall = time[1] * 1000 + math.floor(time[2] / 1000)
last, ahead = tonumber(last or 0), tonumber(ahead or 0)
local now = wall + ahead
`,
});

/**
 * `wall`: the server's clock in milliseconds since 1970, for times that people read. `now`: the project's
 * clock, the only one that is compared. It follows the server's but never goes back: when the server's clock
 * does (it was set, or another server took over), it continues from where it was, `ahead` of the server's,
 * and approaches it slowly.
 */
const CLOCK = defineFragment({
  needs: ['meta'],
  gives: ['time', 'wall', 'store_id', 'last', 'ahead', 'now'],
  lua: `
local store_id, last, ahead = unpack(redis.call('HMGET', meta, 'id', 'clock', 'ahead'))
${CLOCK_OF_READ}`,
});

/** Writes the clock where it has moved by more than a second. */
const KEEP_CLOCK = defineFragment({
  needs: ['meta', 'wall', 'store_id', 'last', 'ahead', 'now'],
  lua: `
if now < last - ${CLOCK_STEP_MS} then
  now, ahead = last, last - wall
  redis.call('HSET', meta, 'ahead', ahead)
elseif store_id and now > last + ${CLOCK_STEP_MS} then
  if ahead > 0 then
    ahead = math.max(0, ahead - math.ceil(math.min(now - last, 60000) * ${CLOCK_SLEW}))
    redis.call('HSET', meta, 'ahead', ahead)
  end
  redis.call('HSET', meta, 'clock', now)
end
`,
});

/** The clock, for a script that writes. */
export const NOW = defineFragment({
  needs: ['meta'],
  gives: ['time', 'wall', 'now'],
  lua: `${CLOCK}${KEEP_CLOCK}`,
});

/**
 * The same for a script that reads more of `meta`, in one command with the fields `id`, `clock` and `ahead`:
 * they are `store_id`, `last` and `ahead`.
 */
export const NOW_OF_READ = defineFragment({
  needs: ['meta', 'store_id', 'last', 'ahead'],
  gives: ['time', 'wall', 'now'],
  lua: `${CLOCK_OF_READ}${KEEP_CLOCK}`,
});

/** The clock, for a script that only reads. */
export const READ_NOW = defineFragment({
  needs: ['meta'],
  gives: ['now'],
  lua: `${CLOCK}
now = math.max(now, last)
`,
});

/** Ends the script with an error where the store has lost the project's data. */
export const REQUIRE_STORE = defineFragment({
  needs: ['meta'],
  lua: `
if redis.call('HEXISTS', meta, 'id') == 0 then
  return redis.error_reply('NOLOG the run store is empty')
end
`,
});

/** The same, but a project that is being seeded with this token passes. */
export const REQUIRE_STORE_OR_SEEDING = defineFragment({
  needs: ['meta', 'seeding'],
  lua: `
if seeding == '' or redis.call('HGET', meta, 'seeding') ~= seeding then
  ${REQUIRE_STORE}
end
`,
});
