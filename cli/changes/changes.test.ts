import { describe, expect, test } from 'vitest';
import { compareObjects, type ObjectChange } from './compare.ts';
import { asMarkdown, asText } from './report.ts';

const objectOf = (name: string, spec: object, more: object = {}) => ({
  apiVersion: 'windlass.dev/v1alpha1',
  kind: 'Workflow',
  metadata: { name, ...more },
  spec,
});

const nodes = (...list: object[]) => ({ nodes: list });
const mail = (to: unknown) => ({ id: 'mail', skill: { name: 'send_email', parameters: { to } } });
const start = { id: 'start', manual: {} };

describe('the changes of objects', () => {
  test('those of one set alone are created and deleted, by namespace and name', () => {
    const changes = compareObjects(
      [objectOf('a', {}), objectOf('b', {}, { namespace: 'shop' })],
      [objectOf('a', {}), objectOf('b', {}, { namespace: 'stock' })],
    );
    expect(changes.map(({ change, name, namespace }) => [change, name, namespace])).toEqual([
      ['Deleted', 'b', 'shop'],
      ['Created', 'b', 'stock'],
    ]);
  });

  test.each<[what: string, before: object, after: object, lines: string[]]>([
    ['a value', nodes(mail('a')), nodes(mail('b')), ['nodes[mail].skill.parameters.to: "a" → "b"']],
    ['a new field', { active: true }, { active: true, suspend: true }, ['suspend: undefined → true']],
    ['a removed field', { active: true }, {}, ['active: true → undefined', ': undefined → {}']],
    [
      'a node before others',
      nodes(mail('a')),
      nodes(start, mail('a')),
      ['nodes[start].id: undefined → "start"', 'nodes[start].manual: undefined → {}'],
    ],
    [
      'an edge',
      { edges: [{ from: 'a', to: 'b' }] },
      { edges: [{ from: 'a', to: 'b', when: 'true' }] },
      ['edges[a → b].when: undefined → "true"'],
    ],
    ['items without names', { list: ['a', 'b'] }, { list: ['a', 'c'] }, ['list[1]: "b" → "c"']],
    [
      'items with one name twice',
      nodes(start, start),
      nodes(start, { id: 'start' }),
      ['nodes[1].manual: {} → undefined'],
    ],
    ['nothing', nodes(start), nodes(start), []],
  ])('%s', (_what, before, after, lines) => {
    const [change] = compareObjects([objectOf('a', before)], [objectOf('a', after)]);
    const shown = (change?.fields ?? []).map(
      ({ path, before: was, after: is }) => `${path.replace(/^spec\.?/, '')}: ${was} → ${is}`,
    );
    expect(shown).toEqual(lines);
  });

  test('what the API server adds is no change, and a label is one', () => {
    const stored = { ...objectOf('a', {}, { uid: '1', resourceVersion: '2' }), status: { id: 'x' } };
    expect(compareObjects([stored], [objectOf('a', {})])).toEqual([]);
    const labelled = objectOf('a', {}, { labels: { tier: 'one' } });
    expect(compareObjects([stored], [labelled])).toMatchObject([
      { fields: [{ path: 'metadata.labels.tier' }] },
    ]);
  });
});

describe('reports', () => {
  const changed = (before: string, after: string): ObjectChange => ({
    change: 'Changed',
    kind: 'Workflow',
    name: 'orders',
    namespace: 'shop',
    fields: [{ path: 'spec.a', before, after }],
  });

  test('text has a sign for each object and value', () => {
    const created: ObjectChange = {
      change: 'Created',
      kind: 'Credential',
      name: 'mail',
      namespace: '',
      fields: [],
    };
    expect(asText([created, changed('1', '2')])).toBe(
      '+ Credential/mail\n~ Workflow/orders in shop\n    - spec.a: 1\n    + spec.a: 2',
    );
  });

  test('a long value is cut around what differs', () => {
    const text = asText([changed('x'.repeat(500), `${'x'.repeat(300)}y${'x'.repeat(199)}`)]);
    expect(text).toContain(`+ spec.a: …${'x'.repeat(40)}y`);
    expect(text.length).toBeLessThan(500);
  });

  test('no value ends a block of Markdown', () => {
    expect(asMarkdown([changed('"a"', '"```\\n# b"')])).toContain(
      '\n````diff\n- spec.a: "a"\n+ spec.a: "```\\n# b"\n````\n',
    );
  });

  test('what is too long for a comment is counted', () => {
    const many = Array.from({ length: 1000 }, () => changed('a'.repeat(200), 'b'.repeat(200)));
    const text = asMarkdown(many);
    expect(text.length).toBeLessThan(65_536);
    expect(text).toMatch(/… and \d+ more objects/);
  });

  test('Markdown says that nothing would change', () => {
    expect(asMarkdown([])).toBe('No Windlass object would change.\n');
  });
});
