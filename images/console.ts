/**
 * Bundles the console: the page and its assets, whose names have a hash of what is in them, so that browsers
 * keep them for ever. Text is compressed here once, and not by the gateway for each browser.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { build, type BuildResult, type Metafile, type Plugin } from 'esbuild';
import { directImports } from './directImports.ts';
import { docsPlugin } from './docs.ts';
import { noticesOf } from './licenses.ts';
import { consoleSchemas } from './schemas.ts';
import { consoleTemplates } from './templates.ts';

const root = join(import.meta.dirname, '..');
const folder = join(root, 'console');
const ENTRY = 'console/main.tsx';
/** The page that most people open first. Its scripts are preloaded with the entry. */
const FIRST_PAGE = 'console/workflows/WorkflowsPage.tsx';
/** The namespace of what is loaded later than the entry. */
const LAZY = 'lazy';

/** A file below the console's folder in the image. */
export type ConsoleFile = { path: string; content: Uint8Array };

/**
 * The page, `index.html`, and the assets that it names, each also as `.br` and `.gz`. Throws when the console
 * does not bundle.
 */
export async function bundledConsole(): Promise<ConsoleFile[]> {
  const { outputFiles, metafile } = await bundle();
  const { script, styles } = entryOf(metafile);
  const files = outputFiles
    .map(({ path, contents }) => ({ path: `assets/${basename(path)}`, content: contents }))
    // The styles of the entry are those of all pages; nobody asks for what a page alone would need.
    .filter(({ path }) => !path.endsWith('.css') || basename(path) === basename(styles));
  const notices = await noticesFile(metafile);
  const parts = { script, styles, notices: notices.path };
  const page = { path: 'index.html', content: Buffer.from(await pageOf(metafile, parts)) };
  const all = [...files, notices];
  const compressed = await Promise.all(all.filter(({ path }) => isText(path)).map(compress));
  return [page, ...all, ...compressed.flat()];
}

/**
 * What a browser loads before any page can be shown, and then for this page: the modules, and their bytes as
 * they are sent.
 */
export async function loadOf(page: string): Promise<{ modules: string[]; bytes: number }> {
  const { outputFiles, metafile } = await bundle();
  const { script, styles } = entryOf(metafile);
  const own = scriptOf(metafile, page);
  const loaded = [...new Set([styles, ...loadedWith(metafile, script), ...loadedWith(metafile, own)])];
  const sizes = outputFiles
    .filter(({ path }) => loaded.some((each) => basename(each) === basename(path)))
    .map(async ({ contents }) => (await toGzip(contents, { level: 9 })).length);
  return {
    modules: loaded
      .flatMap((path) => Object.entries(metafile.outputs[path]?.inputs ?? {}))
      .flatMap(([module, { bytesInOutput }]) => (bytesInOutput > 0 ? [module] : [])),
    bytes: (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0),
  };
}

function bundle(): Promise<BuildResult<{ write: false; metafile: true }>> {
  return build({
    absWorkingDir: root,
    entryPoints: { console: ENTRY, icon: 'console/icon.svg' },
    outdir: '/assets',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    write: false,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: ['chrome120', 'firefox121', 'safari17'],
    minify: true,
    metafile: true,
    jsx: 'automatic',
    loader: { '.svg': 'copy', '.module.css': 'local-css' },
    define: { 'process.env.NODE_ENV': '"production"' },
    conditions: ['production'],
    legalComments: 'none',
    plugins: [
      directImports(root, SOURCES),
      oneFirstChunk,
      dataPlugin('schemas', () => Promise.resolve(consoleSchemas())),
      dataPlugin('templates', consoleTemplates),
      docsPlugin,
    ],
    logLevel: 'silent',
  });
}

/** What is written here, and the parts of Mantine that import its core by the index. */
const SOURCES = /\/console\/.*\.tsx?$|\/node_modules\/@mantine\/(?:notifications|charts)\/.*\.mjs$/;

/**
 * Whatever is loaded later names the entry, which is there already: so esbuild knows that nothing of the
 * entry needs a chunk that is shared with some pages only, and the first load is one chunk in place of
 * dozens.
 */
const oneFirstChunk: Plugin = {
  name: 'one-first-chunk',
  setup: (bundling) => {
    bundling.onResolve({ filter: /^\.\.?\// }, ({ kind, path, resolveDir }) =>
      kind === 'dynamic-import'
        ? { path: relative(root, join(resolveDir, path)), namespace: LAZY }
        : undefined,
    );
    bundling.onLoad({ filter: /.*/, namespace: LAZY }, ({ path }) => ({
      contents: `import './${ENTRY}'; export * from './${path}';`,
      resolveDir: root,
    }));
  },
};

/** `windlass:<name>`, which exports data that is computed here, by that name. */
function dataPlugin(name: string, data: () => Promise<unknown>): Plugin {
  return {
    name,
    setup: (bundling) => {
      bundling.onResolve({ filter: new RegExp(`^windlass:${name}$`) }, ({ path }) => ({
        path,
        namespace: name,
      }));
      bundling.onLoad({ filter: /.*/, namespace: name }, async () => ({
        contents: `export const ${name} = JSON.parse(${JSON.stringify(JSON.stringify(await data()))});`,
        loader: 'js',
      }));
    },
  };
}

type Entry = { script: string; styles: string };

function entryOf({ outputs }: Metafile): Entry {
  const entry = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === ENTRY);
  const styles = entry?.[1].cssBundle;
  if (entry === undefined || styles === undefined) throw new Error('the console has no script or no styles');
  return { script: entry[0], styles };
}

/** The script of a page that is loaded later. */
function scriptOf({ outputs }: Metafile, page: string): string {
  const own = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === `${LAZY}:${page}`);
  if (own === undefined) throw new Error(`the console has no page ${page}`);
  return own[0];
}

/** A script and all that it imports before it runs. */
function loadedWith({ outputs }: Metafile, script: string): string[] {
  const loaded = new Set([script]);
  for (const path of loaded) {
    for (const { kind, path: imported } of outputs[path]?.imports ?? [])
      if (kind === 'import-statement') loaded.add(imported);
  }
  return [...loaded];
}

async function noticesFile({ inputs }: Metafile): Promise<ConsoleFile> {
  const content = Buffer.from(await noticesOf(Object.keys(inputs)));
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 8);
  return { path: `assets/licenses-${hash}.txt`, content };
}

type Parts = Entry & { notices: string };

async function pageOf(metafile: Metafile, { script, styles, notices }: Parts): Promise<string> {
  const template = await readFile(join(folder, 'index.html'), 'utf8');
  const icon = Object.keys(metafile.outputs).find((path) => path.endsWith('.svg'));
  if (icon === undefined) throw new Error('the console has no icon');
  const address = (path: string) => `/console/assets/${basename(path)}`;
  const first = loadedWith(metafile, script);
  const chunks = new Set([...first, ...loadedWith(metafile, scriptOf(metafile, FIRST_PAGE))]);
  chunks.delete(script);
  return template
    .replace('__SCRIPT__', address(script))
    .replace('__CHUNKS__', [...chunks].map((path) => preloadOf(address(path))).join('\n    '))
    .replace('__STYLES__', address(styles))
    .replace('__LICENSES__', address(notices))
    .replace('__ICON__', address(icon));
}

/** So that the browser asks for it before it has read the script that imports it. */
function preloadOf(address: string): string {
  return `<link rel="modulepreload" href="${address}" />`;
}

function isText(path: string): boolean {
  return /\.(js|css|svg|txt)$/.test(path);
}

const toGzip = promisify(gzip);
const toBrotli = promisify(brotliCompress);

async function compress({ path, content }: ConsoleFile): Promise<ConsoleFile[]> {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9 };
  return [
    { path: `${path}.gz`, content: await toGzip(content, { level: 9 }) },
    { path: `${path}.br`, content: await toBrotli(content, { params }) },
  ];
}
