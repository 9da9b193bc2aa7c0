/**
 * Chunks of several streams of lines, so that one of them at a time has a line that is longer than a chunk: however many there are, and
 * however long their lines, what waits to be taken is one line and a chunk of each.
 */

/** Waits for its turn; what is returned ends it. */
export type Turn = () => Promise<() => void>;

const NEWLINE = 0x0a;

export function createTurn(): Turn {
  let last: Promise<void> = Promise.resolve();
  return async () => {
    const before = last;
    const { promise, resolve } = Promise.withResolvers<void>();
    last = promise;
    await before;
    return resolve;
  };
}

/** The chunks of one of them. The turn begins with a line that goes on in the next chunk, and ends when that line was taken. */
export async function* inTurn(chunks: AsyncIterable<Buffer>, turn: Turn): AsyncGenerator<Buffer> {
  let end: (() => void) | undefined;
  try {
    for await (const chunk of chunks) {
      yield chunk;
      if (chunk.includes(NEWLINE)) {
        end?.();
        end = undefined;
      }
      if (chunk.at(-1) !== NEWLINE) end ??= await turn();
    }
  } finally {
    end?.();
  }
}
