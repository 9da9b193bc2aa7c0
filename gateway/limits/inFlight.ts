/**
 * The memory of requests while they are received, checked and stored, across all connections. It never
 * exceeds the limit. The less is free, the less one request may reserve, so that small requests still get in.
 */

export type InFlight = {
  /** Reserves memory for a request without its body; undefined if there is none. */
  reserve: () => Reservation | undefined;
  /** Whether a body of this length would fit now. */
  fits: (bytes: number) => boolean;
  /** Reserved bytes. */
  bytes: () => number;
};

export type Reservation = {
  /** Sets the bytes reserved for the body. False, without a change, if that is too much. */
  growTo: (bytes: number) => boolean;
  /** Releases everything; may be called repeatedly. */
  release: () => void;
};

/** Memory of a request besides its body: headers, objects, places in queues. */
const REQUEST_BYTES = 4_096;
/** Bodies up to SMALL_BYTES are admitted while an eighth is free, and up to TINY_BYTES after that. */
const SMALL_BYTES = 16_384;
const TINY_BYTES = 4_096;

/** While half of the limit is free, a body may have `largestBody` bytes. */
export function createInFlight(limit: number, largestBody: number): InFlight {
  let reserved = 0;
  const fits = (bytes: number, own: number): boolean => {
    const free = limit - (reserved - own);
    const share = (2 * largestBody * free) / limit;
    return bytes <= free && bytes <= Math.max(share, free * 8 >= limit ? SMALL_BYTES : TINY_BYTES);
  };
  return {
    reserve: () => {
      if (reserved + REQUEST_BYTES > limit) return undefined;
      reserved += REQUEST_BYTES;
      let body = 0;
      let isOpen = true;
      return {
        growTo: (bytes) => {
          if (!fits(bytes, body)) return false;
          reserved += bytes - body;
          body = bytes;
          return true;
        },
        release: () => {
          if (isOpen) reserved -= body + REQUEST_BYTES;
          isOpen = false;
        },
      };
    },
    fits: (bytes) => fits(bytes, 0),
    bytes: () => reserved,
  };
}
