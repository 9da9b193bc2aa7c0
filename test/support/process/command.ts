/**
 * Runs a program to its end and gives what it wrote; when it fails, the error says which one and what it
 * complained of.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';

export type CommandOptions = {
  cwd?: string;
  env?: Record<string, string | undefined>;
  /** Text for its standard input, which is empty otherwise. */
  input?: string;
  /** After this time, in milliseconds, it is killed; default 60,000. */
  timeoutMs?: number;
  /** A file that gets all that it writes. */
  log?: string;
  /** Each line that it writes, on either stream. */
  onLine?: (line: string) => void;
};

/** None outlives this process, however many there are at once. */
const running = new Set<ChildProcess>();
process.once('exit', () => running.forEach((child) => child.kill('SIGKILL')));

/**
 * What the program wrote on its standard output. Throws when it cannot be started, ends with a status that is
 * not 0, or takes too long.
 */
export async function runCommand(
  command: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<string> {
  const timeoutMs = options.timeoutMs ?? 60_000;
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: options.env ?? process.env,
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  });
  const output: string[] = [];
  const complaints: string[] = [];
  const listen = (stream: NodeJS.ReadableStream, kept: string[]) => {
    stream.setEncoding('utf8').on('data', (text: string) => kept.push(text));
    if (options.onLine) eachLine(stream, options.onLine);
  };
  listen(child.stdout, output);
  listen(child.stderr, complaints);
  const logged = options.log ? logTo(options.log, [child.stdout, child.stderr]) : Promise.resolve();
  // A program that ends before it has read its input is judged by its exit status.
  child.stdin.on('error', () => {});
  child.stdin.end(options.input ?? '');
  running.add(child);
  try {
    const ended = await new Promise<string>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) =>
        resolve(signal ? `was ended by ${signal}` : `ended with status ${code}`),
      );
    });
    await logged;
    if (ended !== 'ended with status 0')
      throw new Error(`${command} ${args[0] ?? ''} ${ended}: ${lastLines(complaints, output)}`);
  } finally {
    running.delete(child);
  }
  return output.join('');
}

function eachLine(stream: NodeJS.ReadableStream, onLine: (line: string) => void): void {
  let rest = '';
  stream.on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onLine(line);
  });
}

async function logTo(path: string, streams: NodeJS.ReadableStream[]): Promise<void> {
  await Promise.all(streams.map((stream) => pipeline(stream, createWriteStream(path, { flags: 'a' }))));
}

function lastLines(complaints: string[], output: string[]): string {
  const text = complaints.join('').trim() || output.join('').trim();
  return text.split('\n').slice(-15).join('\n') || 'it said nothing';
}

/** Where the search path, by default PATH, has the program; undefined when it has not. */
export async function findCommand(command: string, path = process.env['PATH']): Promise<string | undefined> {
  try {
    const found = await runCommand('/bin/sh', ['-c', 'command -v "$1"', 'sh', command], {
      env: { PATH: path },
    });
    return found.trim();
  } catch {
    return undefined;
  }
}
