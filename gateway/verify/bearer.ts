/** `Authorization: Bearer` (RFC 6750) with a fixed token. */
import { createSecretMatcher, readCredentials } from './authorization.ts';
import { headerBytes } from './signature.ts';
import { acceptAnyBody, type Scheme } from './verifier.ts';

export const bearer: Scheme = {
  proof: 'password',
  challenge: 'Bearer realm="webhook"',
  create: (_settings, keys) => {
    const isToken = createSecretMatcher(keys);
    return (caller) => {
      const token = readCredentials(caller, 'bearer');
      if ('fault' in token) return token.fault;
      return isToken(headerBytes(token.value)) ? acceptAnyBody : 'mismatch';
    };
  },
};
