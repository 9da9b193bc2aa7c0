/**
 * GitHub: `X-Hub-Signature-256` holds `sha256=` and the HMAC-SHA256 of the body in hex. `X-GitHub-Delivery`
 * names the event.
 */
import { createSignatureCheck, decodeSignature } from './signature.ts';
import { singleHeader, type Scheme } from './verifier.ts';

const SIGNATURE = 'x-hub-signature-256';
const PREFIX = 'sha256=';

export const github: Scheme = {
  proof: 'signature',
  deliveryHeader: 'x-github-delivery',
  create: (_settings, keys) => {
    const isSigned = createSignatureCheck('sha256', keys);
    return (caller) => {
      const found = singleHeader(caller, SIGNATURE);
      if ('fault' in found) return found.fault;
      if (!found.value.startsWith(PREFIX)) return 'malformed';
      const signature = decodeSignature(found.value.slice(PREFIX.length), 'sha256', 'hex');
      if (signature === undefined) return 'malformed';
      return (body) => isSigned([signature], [body]);
    };
  },
};
