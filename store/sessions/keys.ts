/**
 * The names of the keys that the console's sessions need. They belong to no project, as those of `oauth/keys.ts`: no account of a
 * runner pool reaches them. No token is in any of them, but sealed with what the store does not hold.
 *
 * | key | type | holds |
 * | --- | --- | --- |
 * | `wl:console:keys` | hash | the keys that sessions are sealed with in the cookies of browsers, one for each day, by its number |
 * | `wl:console:link:<hash>` | string | the token of a one-time link, sealed with what is in the link alone, for 10 min |
 * | `wl:console:made:<hash>` | hash | how many links a user was given, for 10 min from the first one |
 * | `wl:console:renewing:<hash>` | string | that a replica shows a refresh token to the provider, for 15 s |
 * | `wl:console:renewed:<hash>` | string | the tokens that came of it, sealed with what is in the browser's cookie alone, for 10 min |
 * | `wl:console:out:<hash>` | string | a session that was signed out, until it would have ended |
 */
const PREFIX = 'wl:console:';

export const consoleKeys = {
  keys: `${PREFIX}keys`,
  link: (hash: string): string => `${PREFIX}link:${hash}`,
  made: (hash: string): string => `${PREFIX}made:${hash}`,
  renewing: (hash: string): string => `${PREFIX}renewing:${hash}`,
  renewed: (hash: string): string => `${PREFIX}renewed:${hash}`,
  out: (hash: string): string => `${PREFIX}out:${hash}`,
} as const;
