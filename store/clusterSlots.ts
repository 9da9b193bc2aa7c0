/** The slots of a Redis Cluster: which one a key has, and which server has which. Pure. */
import { isAddress, nameOf, type ServerAddress } from '../api/runStoreURL.ts';

const SLOTS = 16_384;

/** Slots that follow each other, the server that takes writes to them, and its replicas. */
export type SlotRange = {
  first: number;
  last: number;
  primary: ServerAddress;
  replicas: readonly ServerAddress[];
};

/** CRC16 of one byte at the head of the sum (XMODEM: polynomial 0x1021). */
const TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let sum = byte << 8;
  for (let bit = 0; bit < 8; bit += 1) sum = sum & 0x8000 ? (sum << 1) ^ 0x1021 : sum << 1;
  return sum & 0xffff;
});

/**
 * The slot of a key: that of its hash tag, the text between the first `{` and the next `}`, if any. A key
 * that is no text is read, and given, as `latin1`.
 */
export function slotOf(key: string, encoding: 'utf8' | 'latin1' = 'utf8'): number {
  const from = key.indexOf('{');
  const to = from < 0 ? -1 : key.indexOf('}', from + 1);
  const hashed = to > from + 1 ? key.slice(from + 1, to) : key;
  let sum = 0;
  for (const byte of Buffer.from(hashed, encoding))
    sum = ((sum << 8) ^ (TABLE[(sum >> 8) ^ byte] ?? 0)) & 0xffff;
  return sum % SLOTS;
}

/**
 * The answer of `CLUSTER SLOTS`. A server that does not know its own address leaves it out: it is the one
 * that was asked. Servers whose address nobody knows, or where no server can be, are left out.
 */
export function parseSlots(answer: unknown, asked: string): SlotRange[] {
  const ranges = answer as [first: number, last: number, ...servers: [host: string | null, port: number][]][];
  return ranges.flatMap(([first, last, ...servers]) => {
    const [primary, ...replicas] = servers.flatMap(([host, port]) => addressOf(host, port, asked));
    return primary === undefined ? [] : [{ first, last, primary, replicas }];
  });
}

function addressOf(host: string | null, port: number, asked: string): ServerAddress[] {
  const address = { host: host === null || host === '' ? asked : host, port };
  return isAddress(address) ? [address] : [];
}

/** For each slot the name of its primary; undefined where no server has it. */
export function ownersOf(ranges: readonly SlotRange[]): (string | undefined)[] {
  const owners = Array.from({ length: SLOTS }, (): string | undefined => undefined);
  for (const { first, last, primary } of ranges) owners.fill(nameOf(primary), first, last + 1);
  return owners;
}
