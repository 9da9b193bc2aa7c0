import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { foreignObjects, foreignParts, planOf, projectOf, type Found } from '../../demo/project.ts';
import { tokenCommand } from '../../support/installation/installedGateway.ts';

const PROJECT = 'windlass-examples';
const KINDS = ['workflows.windlass.dev', 'credentials.windlass.dev'];
const own = (name: string) => ({ name, labels: { 'windlass.dev/demo': 'true' } });
const found = (some: Partial<Found>): Found => ({ namespaces: [], definitions: [], objects: [], ...some });

test('on a cluster of somebody else the examples have a namespace of their own', () => {
  expect(projectOf({ provider: 'current' })).toBe(PROJECT);
  expect(projectOf({ provider: 'builtin' })).toBe('default');
  expect(projectOf({ provider: 'kind' })).toBe('default');
});

const ACCEPTED: [what: string, some: Partial<Found>][] = [
  ['an empty cluster', {}],
  ['namespaces of others', { namespaces: [{ name: 'default' }, { name: 'shop' }] }],
  [
    'what the demo made before',
    { namespaces: ['windlass-system', 'windlass-demo', PROJECT].map(own), definitions: KINDS },
  ],
];
test.each(ACCEPTED)('the demo uses a cluster with %s', (_what, some) => {
  expect(foreignParts(found(some), PROJECT)).toEqual([]);
});

const REFUSED: [what: string, some: Partial<Found>, problem: RegExp][] = [
  [
    'an installation of somebody else',
    { namespaces: [{ name: 'windlass-system' }], definitions: KINDS },
    /namespace windlass-system exists .* the kinds of Windlass are installed/,
  ],
  [
    'an installation in another namespace',
    { definitions: KINDS },
    /kinds of Windlass are installed \(workflows/,
  ],
  ['a namespace of that name', { namespaces: [{ name: PROJECT }] }, /namespace windlass-examples exists/],
  [
    'a label that says otherwise',
    { namespaces: [{ name: 'windlass-demo', labels: { 'windlass.dev/demo': 'false' } }] },
    /namespace windlass-demo exists/,
  ],
];
test.each(REFUSED)('the demo neither changes nor removes %s', (_what, some, problem) => {
  expect(foreignParts(found(some), PROJECT).join(' ')).toMatch(problem);
});

test('objects outside of the namespace of the examples keep the kinds from being removed', () => {
  const objectIn = (namespace: string) => ({ kind: 'Workflow', metadata: { name: 'report', namespace } });
  const objects = [objectIn(PROJECT), objectIn('shop')];
  expect(foreignObjects(found({ objects }), PROJECT)).toEqual(['Workflow shop/report']);
});

test('every token of the demo ends after an hour', () => {
  for (const account of ['caller', 'editor', 'you'] as const) {
    const command = tokenCommand(account, 'windlass').join(' ');
    expect(command).toBe(`create token ${account} -n windlass-demo --duration 1h --audience windlass`);
  }
});

test('the plan names each namespace and how to remove it all', () => {
  for (const text of ['windlass-system', 'windlass-demo', PROJECT, 'an hour', 'npm run demo -- --down'])
    expect(planOf(PROJECT)).toContain(text);
});

test('the servers of the demo name no namespace but their own and that of the examples', async () => {
  const folder = join(import.meta.dirname, '../../support/installation/manifests');
  const text = await readFile(join(folder, 'demo-servers.yaml'), 'utf8');
  const names = [...text.matchAll(/namespace: ([^ ,}\n]+)/g)].map(([, name]) => name);
  expect(new Set(names)).toEqual(new Set(['windlass-demo', 'PROJECT_NAMESPACE']));
});
