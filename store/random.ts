/** Random text for names and tokens. */
import { randomFillSync } from 'node:crypto';

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
