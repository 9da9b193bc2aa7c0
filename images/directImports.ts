/**
 * Makes imports from packages' index files ones from the very files that they name. esbuild puts into a chunk
 * whatever the index files that the chunk imports name for any page; with this, each page waits for its own
 * parts of Mantine and its own icons only.
 */
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Loader, Plugin } from 'esbuild';

/** Packages whose index is nothing but a list of what other files export. */
const PACKAGES: Record<string, string> = {
  '@mantine/core': '@mantine/core/esm/index.mjs',
  '@mantine/hooks': '@mantine/hooks/esm/index.mjs',
  '@tabler/icons-react': '@tabler/icons-react/dist/esm/tabler-icons-react.mjs',
};

/** What a package exports: the file that has it, and its name there. */
export type Exports = Map<string, { path: string; name: string }>;

/** The plugin, for a folder with node_modules, and the files whose imports it changes. */
export function directImports(root: string, files: RegExp): Plugin {
  return {
    name: 'direct-imports',
    setup: async (bundling) => {
      const modules = join(root, 'node_modules');
      const known = new Map<string, Exports>();
      for (const [name, index] of Object.entries(PACKAGES)) {
        const path = join(modules, index);
        known.set(name, exportsOf(await readFile(path, 'utf8'), dirname(path)));
      }
      bundling.onLoad({ filter: files, namespace: 'file' }, async ({ path }) => ({
        contents: withDirectImports(await readFile(path, 'utf8'), known),
        loader: loaderOf(path),
      }));
    },
  };
}

function loaderOf(path: string): Loader {
  if (path.endsWith('.tsx')) return 'tsx';
  return path.endsWith('.ts') ? 'ts' : 'js';
}

const NAMES = String.raw`\{([^{}]*)\}`;
const FROM = String.raw`\s*from\s*["']([^"']+)["'];?`;

/**
 * Reads an index file: `import { a as b } from './x'` with `export { b as c }`, and `export { a as c } from
 * './x'`.
 */
export function exportsOf(index: string, folder: string): Exports {
  const imported: Exports = new Map();
  const exported: Exports = new Map();
  for (const [, kind, names = '', from] of index.matchAll(
    new RegExp(String.raw`^(import|export)\s*${NAMES}(?:${FROM})?`, 'gm'),
  )) {
    for (const { name, as } of namesOf(names)) {
      const known =
        from === undefined
          ? imported.get(name)
          : { path: from.startsWith('.') ? join(folder, from) : from, name };
      if (known) (kind === 'import' ? imported : exported).set(as, known);
    }
  }
  return exported;
}

/** The same source with the imports that name exports of these packages taken from where they are. */
export function withDirectImports(source: string, known: Map<string, Exports>): string {
  return source.replaceAll(
    new RegExp(String.raw`^import\s*${NAMES}${FROM}`, 'gm'),
    (statement, names: string, from: string) => {
      const exported = known.get(from);
      if (exported === undefined) return statement;
      return namesOf(names)
        .filter(({ name }) => !name.startsWith('type '))
        .map(({ name, as }) => importOf(name, as, exported.get(name), from))
        .join(' ');
    },
  );
}

function importOf(name: string, as: string, found: { path: string; name: string } | undefined, from: string) {
  const { name: there, path } = found ?? { name, path: from };
  return `import { ${there} as ${as} } from ${JSON.stringify(path)};`;
}

function namesOf(list: string): { name: string; as: string }[] {
  return list
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')
    .map((each) => {
      const [name = each, as = name] = each.split(/\s+as\s+/);
      return { name, as };
    });
}
