/** Names of runs: labels of DNS (RFC 1123, at most 63 characters), so that they are names of objects and values of labels. */
import { createHash, randomFillSync } from 'node:crypto';

const LIMIT = 63;
const TIME_LENGTH = 9;
const RANDOM_LENGTH = 6;

/** The hash by which a dedupe key is stored: SHA-256, 125 bits of it, in base 36. */
export function dedupeHash(workflowUid: string, key: string): string {
  const digest = createHash('sha256').update(workflowUid).update('\0').update(key).digest('hex');
  return BigInt(`0x${digest}`).toString(36).padStart(50, '0').slice(-24);
}

/** A new name; names made later sort later. Two may be equal, once in 10⁹ for a workflow and millisecond. */
export function newRunName(workflow: string, now: number = Date.now()): string {
  return withSuffix(workflow, now.toString(36).padStart(TIME_LENGTH, '0') + randomText(RANDOM_LENGTH));
}

/** `length` random characters of base 36. */
export function randomText(length: number): string {
  let text = '';
  while (text.length < length) {
    const byte = nextByte();
    // 252 is the largest multiple of 36 in a byte: beyond it some characters would be likelier.
    if (byte < 252) text += (byte % 36).toString(36);
  }
  return text;
}

function withSuffix(workflow: string, suffix: string): string {
  const base = workflow
    .replaceAll('.', '-')
    .slice(0, LIMIT - suffix.length - 1)
    .replace(/-+$/, '');
  return `${base}-${suffix}`;
}

const pool = new Uint8Array(4096);
let used = pool.length;

/** Random bytes from a pool: one call of the generator per name would cost more than the name. */
function nextByte(): number {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  return pool[used++] ?? 0;
}
