/**
 * Telegram (https://core.telegram.org/bots/api#setwebhook): each update has the registered secret in a
 * header.
 */
import { createSecretMatcher } from './authorization.ts';
import { headerBytes } from './signature.ts';
import { acceptAnyBody, singleHeader, type Scheme } from './verifier.ts';

const SECRET = 'x-telegram-bot-api-secret-token';
const FORM = /^[A-Za-z0-9_-]{1,256}$/;

export const telegram: Scheme = {
  proof: 'random',
  create: (_settings, keys) => {
    const isSecret = createSecretMatcher(keys);
    return (caller) => {
      const secret = singleHeader(caller, SECRET);
      if ('fault' in secret) return secret.fault;
      if (!FORM.test(secret.value)) return 'malformed';
      return isSecret(headerBytes(secret.value)) ? acceptAnyBody : 'mismatch';
    };
  },
};
