#!/usr/bin/env node
/**
 * Starts `windlass` from a single file, which ends with its modules as a comment. The first start unpacks
 * them into the cache of the user: Node.js then loads those that a command needs, and keeps them compiled.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { cacheFolder } from '../config.ts';
import { hasUsableNode } from '../nodeVersion.ts';
import { EXIT } from '../shared/exit.ts';
import { unpackFiles } from './archive.ts';
import { unpackedFolder } from './folder.ts';

/** Names the modules. It is replaced when the file is made. */
declare const MODULES_HASH: string;

/** The modules in the last line, behind `//`. */
function ownFiles(): ReturnType<typeof unpackFiles> {
  const text = readFileSync(fileURLToPath(import.meta.url), 'latin1').trimEnd();
  return unpackFiles(text.slice(text.lastIndexOf('\n//') + '\n//'.length));
}

function folderOrProblem(): string | undefined {
  const cache = cacheFolder();
  try {
    return unpackedFolder({ cache, version: MODULES_HASH, files: ownFiles });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    process.stderr.write(
      `error: windlass cannot unpack itself into ${cache} (${code ?? message}): set XDG_CACHE_HOME or TMPDIR to a folder that you may write\n`,
    );
    process.exitCode = EXIT.input;
    return undefined;
  }
}

const folder = hasUsableNode() ? folderOrProblem() : undefined;
if (folder !== undefined) await import(pathToFileURL(join(folder, 'windlass.mjs')).href);
