/** Finds and reads the files that a command line names. */
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandError, EXIT } from './exit.ts';
import type { Terminal } from './terminal.ts';

export type Source = { file: string; text: string };

/** The API server refuses objects above 3 MiB; a file may have several. */
const LARGEST_FILE_BYTES = 32 * 1024 * 1024;
const MANIFEST = /\.(?:ya?ml|json)$/i;
/** Files that are read at the same time. */
const AT_ONCE = 16;

/**
 * The texts of files, of the YAML and JSON files in folders and below, and of the standard input (`-`). Files
 * of one name are read once. Folders whose name begins with a point, and node_modules, are left out.
 * `inFolders`: which names of files count there.
 * @throws CommandError for a file that cannot be read
 */
export async function* readSources(
  names: readonly string[],
  terminal: Terminal,
  inFolders = MANIFEST,
): AsyncGenerator<Source> {
  const files = new Set<string>();
  for (const name of names) for (const file of await filesOf(name, inFolders)) files.add(file);
  const queue = [...files];
  while (queue.length > 0) {
    const batch = queue.splice(0, AT_ONCE);
    yield* await Promise.all(batch.map(async (file) => ({ file, text: await readSource(file, terminal) })));
  }
}

/** All of these texts. @throws CommandError as `readSources` does */
export async function readAllSources(names: readonly string[], terminal: Terminal): Promise<Source[]> {
  const sources: Source[] = [];
  for await (const source of readSources(names, terminal)) sources.push(source);
  return sources;
}

async function filesOf(name: string, inFolders: RegExp): Promise<string[]> {
  if (name === '-') return [name];
  try {
    return (await stat(name)).isDirectory() ? await filesBelow(name, inFolders) : [name];
  } catch (error) {
    throw unreadable(name, error);
  }
}

async function filesBelow(folder: string, inFolders: RegExp): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const sorted = entries.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const found: string[] = [];
  for (const entry of sorted) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (!entry.name.startsWith('.') && entry.name !== 'node_modules')
        found.push(...(await filesBelow(path, inFolders)));
    } else if (inFolders.test(entry.name)) found.push(path);
  }
  return found;
}

/**
 * The text of one file or of the standard input.
 * @throws CommandError if it cannot be read, or is too large
 */
export async function readSource(file: string, terminal: Terminal): Promise<string> {
  const limit = `${LARGEST_FILE_BYTES / 1024 / 1024} MiB`;
  if (file === '-') {
    const text = await terminal.readInput(LARGEST_FILE_BYTES);
    if (text === undefined) throw new CommandError(EXIT.input, `the standard input is larger than ${limit}`);
    return text;
  }
  try {
    // Devices and pipes have no size, so that the limit counts what was read.
    const chunks = await createReadStream(file, { end: LARGEST_FILE_BYTES }).toArray();
    const bytes = Buffer.concat(chunks as Buffer[]);
    if (bytes.length > LARGEST_FILE_BYTES)
      throw new CommandError(EXIT.input, `${file} is larger than ${limit}`);
    return bytes.toString('utf8');
  } catch (error) {
    throw unreadable(file, error);
  }
}

const WHY: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  EACCES: 'you may not read it',
  EISDIR: 'it is a folder',
  ELOOP: 'its symbolic links lead in a circle',
};

function unreadable(name: string, error: unknown): Error {
  const { code = '' } = error as NodeJS.ErrnoException;
  if (error instanceof CommandError || code === '') return error as Error;
  return new CommandError(EXIT.input, `cannot read ${name}: ${WHY[code] ?? code}`, { cause: error });
}
