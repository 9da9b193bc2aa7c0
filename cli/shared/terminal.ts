/**
 * Where a command reads and writes: results go to the standard output, all else to the standard error. Colour
 * is used on a terminal alone, each stream for itself.
 */
import { styleText } from 'node:util';

type Colour = 'red' | 'yellow' | 'green' | 'cyan' | 'dim' | 'bold';

export type TerminalSettings = {
  /** False: no colour, also on a terminal. */
  admitsColour: boolean;
};

type Stream = { isTTY?: boolean; write(text: string): unknown };

export type Streams = { stdin: AsyncIterable<Uint8Array>; stdout: Stream; stderr: Stream };

export type Terminal = {
  /** Writes a line of the result. */
  print(line?: string): void;
  /** Writes a part of the result, without ending the line. */
  write(text: string): void;
  /** Writes a line about the progress, or a message. */
  tell(line: string): void;
  /** The text in a colour, if the standard output or error shows any. */
  paint: (colour: Colour, text: string, stream?: 'stdout' | 'stderr') => string;
  /** The standard input as text (UTF-8). At most `limitBytes`; undefined if there is more. */
  readInput(limitBytes: number): Promise<string | undefined>;
};

/** The terminal of these streams. */
export function createTerminal(streams: Streams, { admitsColour }: TerminalSettings): Terminal {
  return {
    print: (line = '') => void streams.stdout.write(`${line}\n`),
    write: (text) => void (text !== '' && streams.stdout.write(text)),
    tell: (line) => void streams.stderr.write(`${line}\n`),
    paint: (colour, text, stream = 'stdout') =>
      admitsColour && streams[stream].isTTY ? styleText(colour, text, { validateStream: false }) : text,
    readInput: (limitBytes) => readAll(streams.stdin, limitBytes),
  };
}

async function readAll(input: AsyncIterable<Uint8Array>, limitBytes: number): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of input) {
    bytes += chunk.length;
    if (bytes > limitBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
