/**
 * The memory that requests take while they are received, checked and stored, of all connections together. It is never
 * above the limit; and who needs little is let in while others need much: the fuller it is, the less may one request reservation.
 */

export type InFlight = {
  /** Room for a request without its body; undefined when there is none. */
  reserve: () => Reservation | undefined;
  /** Whether a body of that length would fit now. */
  fits: (bytes: number) => boolean;
  /** What is held now. */
  bytes: () => number;
};

export type Reservation = {
  /** Makes what is held for the body this large. False, and nothing is changed, if that is too much. */
  growTo: (bytes: number) => boolean;
  /** Gives everything back; may be called again. */
  release: () => void;
};

/** What a request takes beside its body: headers, objects, its place in queues. */
const REQUEST_BYTES = 4_096;
/** Bodies of this length are let in while an eighth is free, and after that still those of the other. */
const SMALL_BYTES = 16_384;
const TINY_BYTES = 4_096;

/** While half of the limit is free, a body may have `largestBody` bytes. */
export function createInFlight(limit: number, largestBody: number): InFlight {
  let held = 0;
  const fits = (bytes: number, own: number): boolean => {
    const free = limit - (held - own);
    const share = (2 * largestBody * free) / limit;
    return bytes <= free && bytes <= Math.max(share, free * 8 >= limit ? SMALL_BYTES : TINY_BYTES);
  };
  return {
    reserve: () => {
      if (held + REQUEST_BYTES > limit) return undefined;
      held += REQUEST_BYTES;
      let body = 0;
      let isOpen = true;
      return {
        growTo: (bytes) => {
          if (!fits(bytes, body)) return false;
          held += bytes - body;
          body = bytes;
          return true;
        },
        release: () => {
          if (isOpen) held -= body + REQUEST_BYTES;
          isOpen = false;
        },
      };
    },
    fits: (bytes) => fits(bytes, 0),
    bytes: () => held,
  };
}
