/**
 * Slack (https://docs.slack.dev/authentication/verifying-requests-from-slack): `X-Slack-Signature` is `v0=`
 * and the HMAC-SHA256 of `v0:<time>:<body>` in hex. The signed time limits replays to a few minutes.
 */
import { headerBytes, createSignatureCheck, decodeSignature, checkTimestamp } from './signature.ts';
import { singleHeader, type Scheme } from './verifier.ts';

const SIGNATURE = 'x-slack-signature';
const TIMESTAMP = 'x-slack-request-timestamp';
const PREFIX = 'v0=';

export const slack: Scheme = {
  proof: 'signature',
  create: ({ toleranceSeconds }, keys) => {
    const isSigned = createSignatureCheck('sha256', keys);
    return (caller, now) => {
      const given = singleHeader(caller, SIGNATURE);
      if ('fault' in given) return given.fault;
      const time = singleHeader(caller, TIMESTAMP);
      if ('fault' in time) return time.fault;
      if (!given.value.startsWith(PREFIX)) return 'malformed';
      const signature = decodeSignature(given.value.slice(PREFIX.length), 'sha256', 'hex');
      if (signature === undefined) return 'malformed';
      const timed = checkTimestamp(time.value, now, toleranceSeconds);
      if (timed !== 'fresh') return timed;
      return (body) => isSigned([signature], [headerBytes(`v0:${time.value}:`), body]);
    };
  },
};
