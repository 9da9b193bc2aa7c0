/**
 * The WebAssembly modules of the sandbox: QuickJS with a maximum in its memory section, and the extensions
 * for URL, TextEncoder and structuredClone. Compiled once per process, and shared by its threads.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The most memory of one VM, in MiB: the largest limit of a step, the engine itself, and room for copies. */
const MAX_VM_MIB = 160;
const PAGES_PER_MIB = 16;

/** The packages' files; images have them beside the program. */
export const SANDBOX_FILES = {
  quickjs: 'quickjs-wasi/quickjs.wasm',
  url: 'quickjs-wasi/url.so',
  encoding: 'quickjs-wasi/encoding.so',
  structured_clone: 'quickjs-wasi/structured-clone.so',
} as const;

export type SandboxModules = Record<keyof typeof SANDBOX_FILES, WebAssembly.Module>;

/** Reads and compiles the modules. */
export async function loadModules(): Promise<SandboxModules> {
  const names = Object.keys(SANDBOX_FILES) as (keyof typeof SANDBOX_FILES)[];
  const compiled = await Promise.all(
    names.map(async (name) => {
      const bytes = await readFile(fileOf(SANDBOX_FILES[name]));
      return WebAssembly.compile(name === 'quickjs' ? withMaximum(bytes, MAX_VM_MIB * PAGES_PER_MIB) : bytes);
    }),
  );
  return Object.fromEntries(names.map((name, index) => [name, compiled[index]])) as SandboxModules;
}

function fileOf(specifier: string): string {
  const isBundle = import.meta.url.endsWith('.mjs');
  const beside = new URL(`./${basename(specifier)}`, import.meta.url);
  return isBundle ? fileURLToPath(beside) : createRequire(import.meta.url).resolve(specifier);
}

const HEADER_BYTES = 8;
const MEMORY_SECTION = 5;

/**
 * The same module, whose memory cannot grow beyond that many pages (WebAssembly Core Specification, section
 * 5.5.8). Throws for a module without exactly one memory of its own.
 */
export function withMaximum(module: Uint8Array, pages: number): Uint8Array<ArrayBuffer> {
  let at = HEADER_BYTES;
  while (at < module.length) {
    const start = at;
    const id = module[at];
    const [size, body] = readInteger(module, at + 1);
    at = body + size;
    if (id !== MEMORY_SECTION) continue;
    const [count, flagsAt] = readInteger(module, body);
    if (count !== 1) break;
    const [least] = readInteger(module, flagsAt + 1);
    const section = [1, 1, ...integerBytes(least), ...integerBytes(pages)];
    const changed = Uint8Array.from([MEMORY_SECTION, ...integerBytes(section.length), ...section]);
    return Buffer.concat([module.subarray(0, start), changed, module.subarray(at)]);
  }
  throw new Error('the WebAssembly module has no memory of its own');
}

/** An unsigned LEB128 integer, and the index after it. */
function readInteger(bytes: Uint8Array, from: number): [value: number, next: number] {
  let value = 0;
  let at = from;
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at] ?? 0;
    at += 1;
    value += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) return [value, at];
  }
}

function integerBytes(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...integerBytes(Math.floor(value / 0x80))];
}
