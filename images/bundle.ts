/**
 * Bundles the programs of each image: equal sources give equal files, so that a hash of them names the image.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { build, type OutputFile } from 'esbuild';
import { packFiles } from '../cli/singleFile/archive.ts';
import { SANDBOX_FILES } from '../nodes/code/modules.ts';
import { bundledConsole } from './console.ts';
import type { ImageFile } from './files.ts';
import { madeSchemas } from './kindSchemas.ts';

const root = join(import.meta.dirname, '..');

/** The programs of each image: the file below /app without its ending, and where it is written. */
const programs = {
  windlass: {
    operator: 'operator/main.ts',
    gateway: 'gateway/main.ts',
    runner: 'runner/main.ts',
    tick: 'runner/tick/main.ts',
    poll: 'runner/pollPod/main.ts',
    heartbeatWorker: 'runs/heartbeatWorker.ts',
    codeWorker: 'nodes/code/codeWorker.ts',
    evaluationWorker: 'operator/evaluation/evaluationWorker.ts',
  },
  'windlass-demo': {
    'model-server': 'test/support/providers/model/modelServer.ts',
    'mail-server': 'test/support/providers/mail/mailServer.ts',
    'http-sink': 'test/support/providers/http/httpSink.ts',
    'oauth-server': 'test/support/providers/oauth/oauthProgram.ts',
    'telegram-server': 'test/support/providers/telegram/telegramProgram.ts',
    'slack-server': 'test/support/providers/slack/slackServer.ts',
    'google-server': 'test/support/providers/google/googleProgram.ts',
  },
} as const;

export type ProgramImage = keyof typeof programs;

// Packages in CommonJS call require for what Node brings; a module has none of its own.
const banner =
  "import { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);";

/**
 * Where a program names the file of a worker thread: it lies beside it in the image too, under its other
 * ending.
 */
const workerFile = /(?<=new URL\(")(\.\/\w+)\.ts(?=", ?import\.meta\.url\))/g;

const OPTIONS = {
  absWorkingDir: root,
  outdir: '/app',
  outExtension: { '.js': '.mjs' },
  write: false,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  banner: { js: banner },
  logLevel: 'silent',
} as const;

/** The programs of an image, below /app, and the console. Throws when one does not bundle. */
export async function bundledPrograms(image: ProgramImage): Promise<ImageFile[]> {
  const programs = await programFiles(image);
  return image === 'windlass' ? [...programs, ...(await consoleFiles())] : programs;
}

/** The programs alone, and what they read at their start. */
export async function programFiles(image: ProgramImage): Promise<ImageFile[]> {
  const { outputFiles } = await build({
    ...OPTIONS,
    entryPoints: Object.entries(programs[image]).map(([out, entry]) => ({ in: entry, out })),
    minifySyntax: true,
    // The OAuth provider keeps what it stores by the names of its classes.
    keepNames: image === 'windlass-demo',
  });
  const bundled = withWorkerFiles(outputFiles);
  return image === 'windlass' ? [...bundled, ...(await sandboxFiles()), ...(await chatFiles())] : bundled;
}

/**
 * The command `windlass` and the thread of its sandbox, with all that they import, and the JSON Schemas for
 * editors. Throws as above.
 */
export async function bundledCommandLine(): Promise<ImageFile[]> {
  const { outputFiles } = await build({
    ...OPTIONS,
    entryPoints: [
      { in: 'cli/launch.ts', out: 'windlass' },
      { in: 'nodes/code/codeWorker.ts', out: 'codeWorker' },
    ],
    // It starts for each command: a shorter text is read sooner.
    minify: true,
    plugins: [madeSchemas],
  });
  return [...withWorkerFiles(outputFiles), ...(await sandboxFiles()), ...(await schemaFiles())];
}

/**
 * The command `windlass` as one file of JavaScript: the files of `bundledCommandLine` in a comment, behind
 * what unpacks them. Throws as above.
 */
export async function bundledSingleFile(files: readonly ImageFile[]): Promise<string> {
  const packed = packFiles(
    await Promise.all(
      files.map(async (file) => ({
        path: file.to.replace('/app/', ''),
        content: 'content' in file ? Buffer.from(file.content) : await readFile(file.from),
      })),
    ),
  );
  const hash = createHash('sha256').update(packed).digest('hex').slice(0, 16);
  const { outputFiles } = await build({
    ...OPTIONS,
    splitting: false,
    entryPoints: ['cli/singleFile/launch.ts'],
    banner: {},
    minify: true,
    define: { MODULES_HASH: JSON.stringify(hash) },
  });
  return `${outputFiles[0]?.text.trimEnd()}\n//${packed}\n`;
}

async function schemaFiles(): Promise<ImageFile[]> {
  const folder = join(root, 'docs/schemas');
  const names = await readdir(folder);
  return Promise.all(
    names.map(async (name) => ({ to: `/app/schemas/${name}`, content: await readFile(join(folder, name)) })),
  );
}

function withWorkerFiles(files: readonly OutputFile[]): ImageFile[] {
  return files.map((file) => ({ to: file.path, content: file.text.replace(workerFile, '$1.mjs') }));
}

/** The WebAssembly modules lie beside the programs that load them. */
async function sandboxFiles(): Promise<ImageFile[]> {
  const { resolve } = createRequire(import.meta.url);
  return Promise.all(
    Object.values(SANDBOX_FILES).map(async (specifier) => ({
      to: `/app/${basename(specifier)}`,
      content: await readFile(resolve(specifier)),
    })),
  );
}

/** The scripts and the style of the chat page lie beside the gateway. */
async function chatFiles(): Promise<ImageFile[]> {
  return Promise.all(
    ['chatMarkdown.js', 'chatPage.js', 'chatPage.css'].map(async (name) => ({
      to: `/app/${name}`,
      content: await readFile(join(root, 'gateway/public/chat', name)),
    })),
  );
}

/** The console lies beside the gateway, which serves it. */
async function consoleFiles(): Promise<ImageFile[]> {
  return (await bundledConsole()).map(({ path, content }) => ({ to: `/app/console/${path}`, content }));
}
