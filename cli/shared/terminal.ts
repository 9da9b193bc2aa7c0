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
  /**
   * Says how far long work is, in one line that the next text replaces. Where no terminal is, such as in the
   * log of a CI job, in a line of its own every 30 s.
   */
  progress(text: string): void;
  /** The text in a colour, if the standard output or error shows any. */
  paint: (colour: Colour, text: string, stream?: 'stdout' | 'stderr') => string;
  /** The standard input as text (UTF-8). At most `limitBytes`; undefined if there is more. */
  readInput(limitBytes: number): Promise<string | undefined>;
};

/** The time before the first progress, and between two. */
const PROGRESS_MS = 1_000;
/** The same where lines cannot be replaced. */
const LINE_MS = 30_000;

/** The terminal of these streams. */
export function createTerminal(streams: Streams, { admitsColour }: TerminalSettings): Terminal {
  const line = progressLine(streams.stderr);
  const write = (stream: Stream, text: string): void => {
    if (text === '') return;
    line.clear();
    stream.write(text);
  };
  return {
    print: (text = '') => write(streams.stdout, `${text}\n`),
    write: (text) => write(streams.stdout, text),
    tell: (text) => write(streams.stderr, `${text}\n`),
    progress: line.show,
    paint: (colour, text, stream = 'stdout') =>
      admitsColour && streams[stream].isTTY ? styleText(colour, text, { validateStream: false }) : text,
    readInput: (limitBytes) => readAll(streams.stdin, limitBytes),
  };
}

/** A line that is written over, without control sequences, which not every terminal has. */
function progressLine(stream: Stream): { show: (text: string) => void; clear: () => void } {
  let length = 0;
  let last = performance.now();
  return {
    show: (text) => {
      if (performance.now() - last < (stream.isTTY ? PROGRESS_MS : LINE_MS)) return;
      last = performance.now();
      if (!stream.isTTY) return void stream.write(`${text}\n`);
      stream.write(`\r${text.padEnd(length)}`);
      length = text.length;
    },
    clear: () => {
      if (length > 0) stream.write(`\r${' '.repeat(length)}\r`);
      length = 0;
    },
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
