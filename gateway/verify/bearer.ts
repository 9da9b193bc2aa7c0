/** `Authorization: Bearer` (RFC 6750) with a fixed token. */
import { createIsOneOf, credentialsOf } from './authorization.ts';
import { bytesOf } from './signature.ts';
import { anyBody, type Scheme } from './verifier.ts';

export const bearer: Scheme = {
  proof: 'password',
  challenge: 'Bearer realm="webhook"',
  create: (_settings, keys) => {
    const isToken = createIsOneOf(keys);
    return (caller) => {
      const token = credentialsOf(caller, 'bearer');
      if ('fault' in token) return token.fault;
      return isToken(bytesOf(token.value)) ? anyBody : 'mismatch';
    };
  },
};
