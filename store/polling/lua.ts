/** The Lua that scripts about polled triggers share. */
import { REQUIRE_STORE } from '../lua.ts';

/** Ends the script where somebody else looks by now, or nobody is to. Needs `meta`, `poll`, `token`. */
export const POLL_FENCE = `
${REQUIRE_STORE}
if redis.call('HGET', poll, 'token') ~= token then return 'fenced' end
`;

/** Drops what is kept but the one named `memory`. Needs `meta`, `kept`, `memory`. */
export const DROP_OTHERS = `
local freed = 0
for _, name in ipairs(redis.call('HKEYS', kept)) do
  if name ~= memory then
    freed = freed + redis.call('HSTRLEN', kept, name)
    redis.call('HDEL', kept, name)
  end
end
if freed > 0 then redis.call('HINCRBY', meta, 'bytes', 0 - freed) end
`;
