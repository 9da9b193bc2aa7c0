/**
 * The keys of console sessions. They belong to no project: no account of a runner pool can access them.
 * Tokens are sealed with keys that the store does not have.
 *
 * | key | type | holds |
 * | --- | --- | --- |
 * | `wl:console:keys` | hash | day number → the key that sessions are sealed with in cookies |
 * | `wl:console:link:<hash>` | string | the token of a one-time link, sealed with a key of the link alone,
 * for 10 min |
 * | `wl:console:made:<hash>` | hash | how many links a user got, for 10 min from the first one |
 * | `wl:console:renewing:<hash>` | string | a replica sends a refresh token to the provider, for 15 s |
 * | `wl:console:renewed:<hash>` | string | the new tokens, sealed with a key of the browser's cookie alone,
 * for 10 min |
 * | `wl:console:out:<hash>` | string | a session that was signed out, until it would have expired |
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
