/**
 * The memory of a sandbox, in a process of its own, bundled as in an image: sources in TypeScript take memory
 * to be read.
 */
import { copyFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { SANDBOX_FILES } from '../../nodes/code/modules.ts';
import { runCommand } from '../support/process/command.ts';
import { makeFolder } from '../support/process/folder.ts';

const root = join(import.meta.dirname, '../..');

/** MiB that a process takes more when it has executed some code and is idle again. */
export async function idleMemory(): Promise<number> {
  const folder = await makeFolder('code');
  try {
    const { outputFiles } = await build({
      absWorkingDir: root,
      entryPoints: ['test/bench/codeMemoryProcess.ts', 'nodes/code/codeWorker.ts'],
      entryNames: '[name]',
      outdir: folder.path,
      outExtension: { '.js': '.mjs' },
      write: false,
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      target: 'node24',
      logLevel: 'silent',
    });
    for (const { path, text } of outputFiles)
      await writeFile(path, text.replaceAll('codeWorker.ts', 'codeWorker.mjs'));
    const { resolve } = createRequire(import.meta.url);
    for (const file of Object.values(SANDBOX_FILES))
      await copyFile(resolve(file), join(folder.path, basename(file)));
    const args = ['--expose-gc', '--max-semi-space-size=16', join(folder.path, 'codeMemoryProcess.mjs')];
    return Number(await runCommand(process.execPath, args));
  } finally {
    folder.remove();
  }
}
