/**
 * The import table of the design: which folder may import which, and where a few packages may be used. No
 * imports form a cycle, neither of files nor of folders.
 */
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
  // It checks and executes with the code of the programs, and tells the version.
  cli: ['api', 'kube', 'store', 'runs', 'nodes', 'operator', 'runner', 'package.json'],
};

const PACKAGES: Record<string, string> = { '@kubernetes/client-node': 'kube', ioredis: 'store' };
/** Checked for cycles only. */
const TOOLS = ['scripts', 'images'];
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

export type Graph = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * One shortest cycle of each group of nodes that reach each other; the first node of a cycle is also its
 * last.
 */
export function findCycles(graph: Graph): string[][] {
  const inCycle = new Set<string>();
  const cycles: string[][] = [];
  for (const node of [...graph.keys()].toSorted()) {
    if (inCycle.has(node)) continue;
    const cycle = shortestCycle(graph, node);
    for (const each of cycle ?? []) inCycle.add(each);
    if (cycle) cycles.push(cycle);
  }
  return cycles;
}

function shortestCycle(graph: Graph, start: string): string[] | undefined {
  const paths = [[start]];
  const visited = new Set<string>();
  for (const path of paths) {
    for (const next of graph.get(path.at(-1) ?? '') ?? []) {
      if (next === start) return [...path, start];
      if (visited.has(next)) continue;
      visited.add(next);
      paths.push([...path, next]);
    }
  }
  return undefined;
}

/** Every relative import of the programs and tools, but those of tests, by file. */
function importGraph(root: string): Graph {
  const graph = new Map<string, Set<string>>();
  for (const folder of [...Object.keys(FOLDERS), ...TOOLS]) {
    for (const file of sources(join(root, folder))) {
      if (/\.test\.tsx?$/.test(file)) continue;
      const imports = [...readFileSync(file, 'utf8').matchAll(IMPORT)]
        .map(([, from, dynamic]) => from ?? dynamic ?? '')
        .filter((specifier) => specifier.startsWith('.'))
        .map((specifier) => relative(root, normalize(join(dirname(file), specifier))));
      graph.set(relative(root, file), new Set(imports));
    }
  }
  return graph;
}

/** The imports between folders that the imports of files make. */
export function foldersOf(graph: Graph): Graph {
  const folders = new Map<string, Set<string>>();
  for (const [file, imports] of graph) {
    const folder = dirname(file);
    const others = [...imports].map((each) => dirname(each)).filter((each) => each !== folder);
    folders.set(folder, new Set([...(folders.get(folder) ?? []), ...others]));
  }
  return folders;
}

/** Every cycle of imports between files or folders, as a line each. */
export function cycleProblems(root: string): string[] {
  const files = importGraph(root);
  const describe = (kind: string) => (cycle: string[]) => `${kind} import each other: ${cycle.join(' → ')}`;
  return [
    ...findCycles(files).map(describe('files')),
    ...findCycles(foldersOf(files)).map(describe('folders')),
  ];
}
