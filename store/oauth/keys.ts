/**
 * The keys of OAuth sign-ins. They belong to no project: no account of a runner pool can access them, and the
 * sweep of projects does not remove them.
 *
 * | key | type | holds |
 * | --- | --- | --- |
 * | `wl:connect:link:<hash>` | string | a one-time link, for 10 min |
 * | `wl:connect:made:<hash>` | hash | how many links a namespace got, for 10 min from the first one |
 * | `wl:connect:state:<hash>` | string | the state that a callback must present, until the link expires |
 * | `wl:connect:codes` | list | sealed codes, each `<ms> <sealed>`, for 60 s |
 * | `wl:connect:key` | string | the public key that codes are sealed to, for 15 s after the operator last
 * published it |
 */
const PREFIX = 'wl:connect:';

export const connectKeys = {
  link: (hash: string): string => `${PREFIX}link:${hash}`,
  made: (hash: string): string => `${PREFIX}made:${hash}`,
  state: (hash: string): string => `${PREFIX}state:${hash}`,
  codes: `${PREFIX}codes`,
  key: `${PREFIX}key`,
} as const;
