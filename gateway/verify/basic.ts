/** `Authorization: Basic` (RFC 7617) with a fixed user name and password, both in UTF-8. */
import { createSecretMatcher, readCredentials } from './authorization.ts';
import { acceptAnyBody, type Scheme } from './verifier.ts';

export const basic: Scheme = {
  proof: 'password',
  challenge: 'Basic realm="webhook", charset="UTF-8"',
  create: ({ username }, keys) => {
    if (username === undefined) return () => 'malformed';
    const isKnown = createSecretMatcher(keys.map((key) => Buffer.concat([Buffer.from(`${username}:`), key])));
    return (caller) => {
      const credentials = readCredentials(caller, 'basic');
      if ('fault' in credentials) return credentials.fault;
      const bytes = Buffer.from(credentials.value, 'base64');
      // Node also decodes invalid base64. Only padding may be left out.
      const isBase64 = bytes.toString('base64').replace(/=+$/, '') === credentials.value.replace(/=+$/, '');
      if (!isBase64) return 'malformed';
      return isKnown(bytes) ? acceptAnyBody : 'mismatch';
    };
  },
};
