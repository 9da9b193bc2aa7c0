/** An HMAC in a configured header, over the body or over `<time>.<body>`. */
import type { Verification } from '../../api/route.ts';
import { headerBytes, createSignatureCheck, decodeSignature, checkTimestamp } from './signature.ts';
import { singleHeader, type Caller, type Scheme, type Unverified } from './verifier.ts';

type Settings = NonNullable<Verification['hmac']>;

export const hmac: Scheme = {
  proof: 'signature',
  create: ({ hmac: settings, toleranceSeconds }, keys) => {
    if (settings === undefined) return () => 'malformed';
    const isSigned = createSignatureCheck(settings.algorithm, keys);
    return (caller, now) => {
      const signature = readSignature(caller, settings);
      if (typeof signature === 'string') return signature;
      if (settings.timestampHeader === undefined) return (body) => isSigned([signature], [body]);
      const time = singleHeader(caller, settings.timestampHeader);
      if ('fault' in time) return time.fault;
      const timed = checkTimestamp(time.value, now, toleranceSeconds);
      if (timed !== 'fresh') return timed;
      return (body) => isSigned([signature], [headerBytes(`${time.value}.`), body]);
    };
  },
};

function readSignature(caller: Caller, settings: Settings): Buffer | Unverified {
  const { header, prefix, algorithm, encoding } = settings;
  const found = singleHeader(caller, header);
  if ('fault' in found) return found.fault;
  if (!found.value.startsWith(prefix)) return 'malformed';
  return decodeSignature(found.value.slice(prefix.length), algorithm, encoding) ?? 'malformed';
}
