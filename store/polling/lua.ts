/** The Lua that scripts about polled triggers share. */
import { REQUIRE_STORE } from '../lua.ts';
import { defineFragment } from '../script.ts';

/** Ends the script where the poll is not the caller's any more, or the trigger is not polled any more. */
export const POLL_FENCE = defineFragment({
  needs: ['meta', 'poll', 'token'],
  lua: `
${REQUIRE_STORE}
if redis.call('HGET', poll, 'token') ~= token then return 'fenced' end
`,
});

/** Drops all known items of the trigger but those named `in_force`, which may be nil. */
export const DROP_OTHER_ITEMS = defineFragment({
  needs: ['meta', 'knownItems', 'in_force'],
  lua: `
local freed = 0
for _, name in ipairs(redis.call('HKEYS', knownItems)) do
  if name ~= in_force then
    freed = freed + redis.call('HSTRLEN', knownItems, name)
    redis.call('HDEL', knownItems, name)
  end
end
if freed > 0 then redis.call('HINCRBY', meta, 'bytes', 0 - freed) end
`,
});
