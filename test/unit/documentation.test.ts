/**
 * What the pages name exists: files, headings, fields, scripts, values of the chart, metrics and environment
 * variables.
 */
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { rootSchema } from '../../api/crd.ts';
import { CREDENTIAL, KINDS } from '../../api/kinds.ts';
import { STEP_KINDS } from '../../api/step.ts';
import { TRIGGER_KINDS } from '../../api/triggerKinds.ts';
import { SKILLS } from '../../nodes/register.ts';

const root = join(import.meta.dirname, '../..');

/** The same function, which computes each answer once. */
function remembering<K, V>(compute: (key: K) => V): (key: K) => V {
  const known = new Map<K, V>();
  return (key) => {
    if (!known.has(key)) known.set(key, compute(key));
    return known.get(key) as V;
  };
}

const read = remembering((path: string) => readFileSync(join(root, path), 'utf8'));

/** The changelog tells of versions that are gone. */
const PAGES = ['README.md', 'CONTRIBUTING.md', 'docs/**/*.md', 'examples/**/*.md'].flatMap((pattern) =>
  globSync(pattern, { cwd: root }),
);

const sources = globSync(
  '{api,kube,nodes,store,runs,operator,gateway,runner,console,cli,images,scripts,test,charts}/**/*',
  {
    cwd: root,
    exclude: (path) => path.includes('documentation.test.ts'),
  },
)
  .filter((path) => /\.(ts|mjs|yaml|tpl|sh)$/.test(path) && statSync(join(root, path)).isFile())
  .map((path) => readFileSync(join(root, path), 'utf8'))
  .join('\n');
const isInSources = remembering((text: string) => sources.includes(text));

const FENCE = /^( *)```.*?^\1```/gms;
const withoutCode = remembering((text: string) => text.replace(FENCE, ''));
const codeIn = remembering((text: string) =>
  [...withoutCode(text).matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code),
);

/** The anchors of a page's headings, as GitHub makes them. */
const anchorsOf = remembering((path: string): Set<string> => {
  const headings = [...withoutCode(read(path)).matchAll(/^#+ +(.*)$/gm)].map(([, heading = '']) => heading);
  const seen = new Map<string, number>();
  return new Set(
    headings.map((heading) => {
      const slug = heading
        .toLowerCase()
        .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replaceAll(' ', '-');
      const count = seen.get(slug) ?? 0;
      seen.set(slug, count + 1);
      return count === 0 ? slug : `${slug}-${count}`;
    }),
  );
});

/** The links of a page that lead nowhere. */
function brokenLinks(page: string): string[] {
  const links = [...withoutCode(read(page)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  return links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false;
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? page : join(dirname(page), path);
    if (!existsSync(join(root, target))) return true;
    return anchor !== undefined && !anchorsOf(target).has(anchor);
  });
}

type Schema = {
  type?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: Schema;
  enum?: unknown[];
};

/** The fields of an object that its schema does not have, and values that an enumeration does not list. */
function strangeFields(value: unknown, schema: Schema | undefined, path: string): string[] {
  if (schema === undefined) return [path];
  if (schema.enum && !schema.enum.includes(value)) return [`${path}: ${String(value)}`];
  if (Array.isArray(value))
    return schema.items
      ? value.flatMap((item, at) => strangeFields(item, schema.items, `${path}[${at}]`))
      : [];
  if (typeof value !== 'object' || value === null) return [];
  const { properties, additionalProperties } = schema;
  if (properties === undefined && additionalProperties === undefined) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    strangeFields(member, properties?.[name] ?? additionalProperties, `${path}.${name}`),
  );
}

type Shown = { kind?: string; spec?: unknown; status?: unknown };

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The YAML of a page: its blocks, and what its commands feed to `kubectl`. */
const yamlIn = remembering((page: string): unknown[] => {
  const blocks = [...read(page).matchAll(/```ya?ml\n(.*?)```/gs)].map(([, block = '']) => block);
  const fed = [...read(page).matchAll(/<<-?'?YAML'?[^\n]*\n(.*?)\n\s*YAML$/gms)].map(
    ([, block = '']) => block,
  );
  return [...blocks, ...fed].flatMap((block) => parseAllDocuments(block)).map((document) => document.toJS());
});

const schemaOf = remembering((kind: (typeof KINDS)[number]) => rootSchema(kind) as Schema);

/**
 * The object of one of our kinds that the YAML shows, whole or in part: nodes, edges, the spec of a
 * credential, or a part of the spec of another kind.
 */
function objectOf(shown: unknown): (Shown & { isPart?: true }) | undefined {
  if (Array.isArray(shown)) {
    const [first] = shown as unknown[];
    const member = isRecord(first) && 'id' in first ? 'nodes' : 'edges';
    return { kind: 'Workflow', spec: { [member]: shown }, isPart: true };
  }
  if (!isRecord(shown)) return undefined;
  if ('edges' in shown) return { kind: 'Workflow', spec: shown, isPart: true };
  if (Object.keys(shown).join() === 'spec') return { ...partOf(shown['spec']), ...shown };
  return KINDS.some(({ kind }) => kind === shown['kind']) ? shown : undefined;
}

/** Of a spec alone: its kind, by the fields that it has. */
function partOf(spec: unknown): { kind: string; isPart?: true } {
  const isOf = (kind: string) =>
    KINDS.some((each) => {
      const { properties } = schemaOf(each);
      return each.kind === kind && strangeFields(spec, properties?.['spec'], 'spec').length === 0;
    });
  if (isOf('Workflow')) return { kind: 'Workflow', isPart: true };
  return isOf('WorkflowRun') ? { kind: 'WorkflowRun', isPart: true } : { kind: 'Credential' };
}

/** The fields of the YAML that do not go with its kind. */
function mistakesIn(shown: unknown): string[] {
  const object = objectOf(shown);
  if (object === undefined) return [];
  const kind = KINDS.find((each) => each.kind === object.kind);
  if (kind === undefined) return [`kind ${object.kind}`];
  const { properties } = schemaOf(kind);
  const issues = object.isPart ? [] : (kind.spec.safeParse(object.spec).error?.issues ?? []);
  return [
    ...issues.map(({ path, message }) => `spec.${path.join('.')}: ${message}`),
    ...strangeFields(object.spec, properties?.['spec'], 'spec'),
    ...strangeFields(object.status, properties?.['status'], 'status'),
  ];
}

const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
const benchmarks = read('test/bench/main.ts');
const values = parse(read('charts/windlass/values.yaml')) as Record<string, unknown>;

/** Whether the chart has this value; below a value that is empty by default everything may be set. */
function isValue(path: string): boolean {
  let at: unknown = values;
  for (const part of path.split('.')) {
    if (typeof at !== 'object' || at === null) return at === null;
    if (Object.keys(at).length === 0) return true;
    if (!(part in at)) return false;
    at = (at as Record<string, unknown>)[part];
  }
  return true;
}

test.each(globSync('docs/*.md', { cwd: root }))('the README leads to %s', (page) => {
  expect(read('README.md')).toContain(`(${page})`);
});

test('the index of decisions lists each with its title', () => {
  const pages = globSync('docs/decisions/0*.md', { cwd: root }).toSorted();
  const entries = pages.map((page) => [basename(page), read(page).match(/^# \d+\. (.*)$/m)?.[1]]);
  const listed = read('docs/decisions/README.md').matchAll(/^\| \[\d+\]\((.*?)\) \| (.*) \|$/gm);
  expect([...listed].map(([, page, title]) => [page, title])).toEqual(entries);
});

test('the README names every trigger, step, skill and kind of credential', () => {
  const credentials = Object.keys(schemaOf(CREDENTIAL).properties?.['spec']?.properties ?? {});
  const names = [...TRIGGER_KINDS, ...STEP_KINDS, ...SKILLS.map(({ name }) => name), ...credentials];
  const named = codeIn(read('README.md'));
  expect(names.filter((name) => !named.includes(name))).toEqual([]);
});

test('the pages show objects, whole and in part', () => {
  const shown = PAGES.flatMap(yamlIn).flatMap((each) => objectOf(each) ?? []);
  expect(shown.filter(({ isPart }) => isPart).length).toBeGreaterThan(10);
  expect(shown.filter(({ isPart }) => !isPart).length).toBeGreaterThan(15);
});

test.each<[string, unknown, string[]]>([
  [
    'an unknown field',
    { kind: 'Workflow', spec: { nodes: [{ id: 'a', manual: {}, colour: 1 }] } },
    ['spec.nodes[0].colour'],
  ],
  [
    'a field of a wrong type',
    { spec: { smtp: { host: 1, from: 'a@b.c' } } },
    ['spec.smtp.host: Invalid input: expected string, received number'],
  ],
  ['a value that is not listed', [{ from: 'a', to: 'b', after: 'Never' }], ['spec.edges[0].after: Never']],
])('%s in a page is found', (_what, shown, mistakes) => {
  expect(mistakesIn(shown)).toEqual(mistakes);
});

/** Tests and mutants that a page names, by their path or a pattern of paths. */
const testsIn = (page: string) =>
  codeIn(read(page)).filter((name) => /^[\w./*-]+\.(test\.tsx?|patch)$/.test(name));

test('the pages with promises name the tests that hold them', () => {
  const promises = [
    'docs/security.md',
    'docs/execution.md',
    ...globSync('docs/triggers/*.md', { cwd: root }),
  ];
  expect(promises.filter((page) => testsIn(page).length === 0)).toEqual([]);
});

test('the tour names functions that its files contain', () => {
  const rows = [...read('docs/tour.md').matchAll(/^\| \d+ \| (.*?) \| (.*?) \|/gm)];
  expect(rows.length).toBeGreaterThan(70);
  const missing = rows.flatMap(([, files = '', functions = '']) => {
    const code = codeIn(files).map(read).join('\n');
    return codeIn(functions).filter((name) => !code.includes(name));
  });
  expect(missing).toEqual([]);
});

describe.each(PAGES)('%s', (page) => {
  const text = read(page);

  test('links to files and headings that exist', () => {
    expect(brokenLinks(page)).toEqual([]);
  });

  test('names tests that exist', () => {
    expect(testsIn(page).filter((path) => globSync(path, { cwd: root }).length === 0)).toEqual([]);
  });

  test('shows objects with fields that their kinds have', () => {
    expect(yamlIn(page).flatMap(mistakesIn)).toEqual([]);
  });

  test('writes references to values of nodes as they are written in a workflow', () => {
    expect(text).not.toMatch(/\{ \{/);
  });

  test('names scripts, files, values, metrics and environment variables that exist', () => {
    const code = codeIn(text);
    const missing = [
      ...[...text.matchAll(/npm run (?:--silent )?([a-z][a-z:]*)/g)]
        .map(([, name = '']) => name)
        .filter((name) => !(name in scripts)),
      ...code.filter(
        (name) =>
          /^(api|kube|store|nodes|runs|operator|gateway|runner|console|test|scripts|images|charts|crds|docs|examples)\/[\w./-]+\.\w+$/.test(
            name,
          ) &&
          !/[A-Z]{3}/.test(name) &&
          !existsSync(join(root, name)),
      ),
      ...code
        .map((name) => name.replace(/=.*/, ''))
        .filter((name) => /^[a-z]\w*(\.\w+)+$/.test(name) && !/\.(md|ts|json|yaml)$/.test(name))
        .filter(
          (name) => (name.split('.')[0] ?? '') in values && !isValue(name) && !isInSources(`'${name}'`),
        ),
      ...[...text.matchAll(/--set ([\w.]+)=/g)].map(([, name = '']) => name).filter((name) => !isValue(name)),
      ...[...text.matchAll(/\bwindlass_[a-z_]+[a-z]/g)]
        .map(([name]) => name)
        .filter((name) => !isInSources(name)),
      ...[...text.matchAll(/npm run bench -- ([a-z]\w*)/g)]
        .map(([, name = '']) => name)
        .filter((name) => !new RegExp(`^ {2}${name}: \\{`, 'm').test(benchmarks)),
      ...[...text.matchAll(/(?<![\w.])windlass\.dev\/([a-z][a-z-]+)(?![\w.])/g)]
        .map(([, name = '']) => name)
        .filter((name) => !isInSources(`/${name}`)),
      ...code.filter((name) => /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$/.test(name) && !isInSources(name)),
    ];
    expect(missing).toEqual([]);
  });
});
