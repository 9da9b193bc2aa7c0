/**
 * The names of the keys that belong to no project. Their prefix is none of a project's, so that no account of a runner pool reaches
 * them, and the sweep of projects leaves them alone.
 *
 * | key | type | holds |
 * | --- | --- | --- |
 * | `wl:connect:link:<hash>` | string | a one-time link, for 10 min |
 * | `wl:connect:made:<hash>` | hash | how many links a namespace was given, for 10 min from the first one |
 * | `wl:connect:state:<hash>` | string | what an answer of the provider is compared with, until the link would have ended |
 * | `wl:connect:codes` | list | sealed codes, each `<ms> <sealed>`, for 60 s |
 * | `wl:connect:key` | string | the public key that codes are sealed to, for 15 s after the operator last said it |
 */
const PREFIX = 'wl:connect:';

export const connectKeys = {
  link: (hash: string): string => `${PREFIX}link:${hash}`,
  made: (hash: string): string => `${PREFIX}made:${hash}`,
  state: (hash: string): string => `${PREFIX}state:${hash}`,
  codes: `${PREFIX}codes`,
  key: `${PREFIX}key`,
} as const;
