/** The import table of the design: which folder may import which, and where a few packages may be used. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';

const FOLDERS: Record<string, string[]> = {
  api: [],
  kube: [],
  nodes: ['api'],
  store: ['api', 'kube'],
  runs: ['api', 'kube', 'store'],
  operator: ['api', 'kube', 'store', 'runs', 'nodes'],
  gateway: ['api', 'kube', 'store', 'runs', 'nodes'],
  runner: ['api', 'kube', 'store', 'runs', 'nodes'],
  console: ['api'],
};

const PACKAGES: Record<string, string> = { '@kubernetes/client-node': 'kube', ioredis: 'store' };
const IMPORT = /(?:^|\n)\s*(?:import|export)\b[^'";]*?from\s+'([^']+)'|\bimport\(\s*'([^']+)'/g;

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}

function checkImport(root: string, file: string, specifier: string, isTest: boolean): string | undefined {
  const here = relative(root, file).split('/')[0] ?? '';
  if (specifier.startsWith('.')) {
    const there = relative(root, normalize(join(dirname(file), specifier))).split('/')[0] ?? '';
    const allowed = there === here || FOLDERS[here]?.includes(there) || (isTest && there === 'test');
    return allowed ? undefined : `${relative(root, file)} imports ${there}/, which ${here}/ may not`;
  }
  const owner = PACKAGES[specifier];
  if (owner && owner !== here)
    return `${relative(root, file)} imports ${specifier}, which only ${owner}/ may`;
  return undefined;
}

/** Every breach of the table, and every read of process.env outside a config.ts, as a line each. */
export function importProblems(root: string): string[] {
  const problems: string[] = [];
  for (const folder of Object.keys(FOLDERS)) {
    for (const file of sources(join(root, folder))) {
      const text = readFileSync(file, 'utf8');
      const isTest = file.endsWith('.test.ts');
      for (const [, from, dynamic] of text.matchAll(IMPORT)) {
        const problem = checkImport(root, file, from ?? dynamic ?? '', isTest);
        if (problem) problems.push(problem);
      }
      if (text.includes('process.env') && !file.endsWith('/config.ts') && !isTest) {
        problems.push(`${relative(root, file)} reads process.env, which only a config.ts may`);
      }
    }
  }
  return problems;
}
