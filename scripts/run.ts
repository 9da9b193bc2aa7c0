/** Runs a program of node_modules/.bin, or any other, with its output passed through; says how it ended. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..');

/** The path of a program that an npm package brings. */
export const bin = (name: string) => join(ROOT, 'node_modules', '.bin', name);

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs a program in the repository's root and resolves with its exit code. A signal that is to end this
 * process is passed on to the program first, and ends this process when the program has ended.
 */
export function run(command: string, args: string[], env: Record<string, string> = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: ROOT, stdio: 'inherit', env: { ...process.env, ...env } });
    let told: NodeJS.Signals | undefined;
    const passOn = (signal: NodeJS.Signals): void => {
      told = signal;
      child.kill(signal);
    };
    for (const signal of SIGNALS) process.on(signal, passOn);
    child.on('error', reject);
    child.on('exit', (code) => {
      for (const signal of SIGNALS) process.off(signal, passOn);
      if (told === undefined) resolve(code ?? 1);
      else process.kill(process.pid, told);
    });
  });
}

/** Runs a program in the repository's root and resolves with what it printed. Throws when it fails. */
export function output(command: string, args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    child.on('error', reject);
    child.on('exit', (code) =>
      code === 0 ? resolve(text) : reject(new Error(`${command} ${args.join(' ')} ended with ${code}`)),
    );
  });
}
