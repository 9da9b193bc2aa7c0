/**
 * Makes the wall clock of a program wrong and its fsync slow without rights of root: a library that is loaded
 * before all others (`shim.c`), built by the C compiler of this machine. Without one these faults are left
 * out.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findCommand, runCommand } from '../../support/process/command.ts';

export type Shim = {
  /** The environment of the program that it is for. */
  env: Record<string, string>;
  /** From now on its clock is wrong by so many milliseconds. */
  setClock(ms: number): void;
  /** From now on each fsync takes so many milliseconds more. */
  setFsync(ms: number): void;
};

/** Builds the library into that folder; undefined where no compiler is available. */
export async function buildShim(folder: string): Promise<string | undefined> {
  const compiler = await findCommand('cc');
  if (compiler === undefined) return undefined;
  const library = join(folder, 'shim.so');
  const source = join(import.meta.dirname, 'shim.c');
  await runCommand(compiler, ['-shared', '-fPIC', '-O2', '-o', library, source, '-ldl']);
  return library;
}

/** Settings of their own for one program, which may be started again and again. */
export async function createShim(library: string, folder: string, name: string): Promise<Shim> {
  const path = join(folder, `shim-${name}`);
  await writeFile(path, Buffer.alloc(16));
  const set = (position: number, ms: number): void => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(Math.round(ms * 1_000)));
    const file = openSync(path, 'r+');
    writeSync(file, bytes, 0, 8, position);
    closeSync(file);
  };
  return {
    env: { LD_PRELOAD: library, WINDLASS_STORM_SETTINGS: path },
    setClock: (ms) => set(0, ms),
    setFsync: (ms) => set(8, ms),
  };
}
