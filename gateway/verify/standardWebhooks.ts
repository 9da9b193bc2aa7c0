/**
 * Standard Webhooks 1.0.0 (standardwebhooks.com): `webhook-signature` holds space-separated signatures of
 * `<id>.<time>.<body>`; version `v1` is HMAC-SHA256. The ID is signed, so that a copy is the same event.
 */
import { headerBytes, createSignatureCheck, decodeSignature, checkTimestamp } from './signature.ts';
import { singleHeader, type Scheme } from './verifier.ts';

const ID = 'webhook-id';
const TIMESTAMP = 'webhook-timestamp';
const SIGNATURE = 'webhook-signature';
const VERSION = 'v1,';
/** Senders sign with the old and the new secret while they rotate. */
const MOST_SIGNATURES = 16;

export const standardWebhooks: Scheme = {
  proof: 'signature',
  deliveryHeader: ID,
  create: ({ toleranceSeconds }, keys) => {
    const isSigned = createSignatureCheck('sha256', keys);
    return (caller, now) => {
      const id = singleHeader(caller, ID);
      if ('fault' in id) return id.fault;
      const time = singleHeader(caller, TIMESTAMP);
      if ('fault' in time) return time.fault;
      const given = singleHeader(caller, SIGNATURE);
      if ('fault' in given) return given.fault;
      // The specification forbids dots: with them two different requests could have the same signed content.
      if (id.value === '' || id.value.includes('.')) return 'malformed';
      const timed = checkTimestamp(time.value, now, toleranceSeconds);
      if (timed !== 'fresh') return timed;
      const signatures = signaturesIn(given.value);
      if (signatures.length === 0) return 'malformed';
      return (body) => isSigned(signatures, [headerBytes(`${id.value}.${time.value}.`), body]);
    };
  },
};

/** Signatures of known versions; others such as `v1a` are ignored. */
function signaturesIn(header: string): Buffer[] {
  return header
    .split(' ', MOST_SIGNATURES)
    .filter((part) => part.startsWith(VERSION))
    .flatMap((part) => decodeSignature(part.slice(VERSION.length), 'sha256', 'base64') ?? []);
}
