/** The templates of the console. */
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { kindOf, workflowSpec } from '../../api/workflow.ts';
import type { Finding } from '../../cli/lint/finding.ts';
import { Linter } from '../../cli/lint/lint.ts';
import { completed, completionsOf } from '../../console/workflows/completions.ts';
import { CATEGORIES, categoriesOf } from '../../console/workflows/templateCategories.ts';
import { matching, needLabels, summaryOf, type Template } from '../../console/workflows/template.ts';
import { consoleTemplates, firstParagraph, needsOf } from '../../images/templates.ts';

const templates = await consoleTemplates();

async function lintErrors(workflows: readonly Pick<Template, 'id' | 'spec'>[]): Promise<Finding[]> {
  const linter = new Linter();
  for (const { id, spec } of workflows) {
    const object = { apiVersion: 'windlass.dev/v1alpha1', kind: 'Workflow', metadata: { name: id }, spec };
    linter.add({ file: `${id}.yaml`, text: stringify(object) });
  }
  const { findings } = await linter.finish();
  return findings.filter(({ severity }) => severity === 'error');
}

test('there are at least twelve, and the first needs no credential', () => {
  expect(templates.length).toBeGreaterThanOrEqual(12);
  expect(templates[0]?.needs).toEqual([]);
});

test.each(templates.map((template) => [template.id, template] as const))(
  'the template %s is inactive, has test data, a description and a drawing, and no host of the demo',
  (_id, { spec, trigger, text, drawing }) => {
    expect(workflowSpec.safeParse(spec)).toMatchObject({ success: true });
    expect(spec.active).toBe(false);
    const [first] = spec.nodes;
    expect(first && kindOf(first)).toBe(trigger);
    expect(first?.[trigger]).toHaveProperty('testData');
    expect(text.length).toBeGreaterThan(40);
    expect(text).not.toMatch(/[[\]`*]|windlass-demo/);
    expect(JSON.stringify(spec)).not.toContain('windlass-demo');
    expect(drawing.nodes).toHaveLength(spec.nodes.length);
  },
);

test('each template has a category, and each category has templates', () => {
  const all = templates.map(({ id, spec }) => ({ id, categories: categoriesOf(spec) }));
  expect(all.filter(({ categories }) => categories.length === 0)).toEqual([]);
  expect(new Set(all.flatMap(({ categories }) => categories))).toEqual(new Set(CATEGORIES));
});

test('the values that are completed replace all examples outside of test data, and lint finds nothing wrong', async () => {
  const filled = templates.map(({ id, spec }) => {
    const answers = new Map(
      completionsOf(spec).map(({ value, label }) => [
        value,
        value.includes('@')
          ? 'team@acme.test'
          : label.startsWith('Address')
            ? 'https://api.acme.test'
            : 'acme',
      ]),
    );
    return { id, spec: completed(spec, answers) };
  });
  expect(
    filled.filter(({ spec }) => completionsOf(spec).some(({ value }) => value.includes('example.'))),
  ).toEqual([]);
  expect(await lintErrors(filled)).toEqual([]);
});

test('windlass lint finds nothing wrong in any of them', async () => {
  expect(await lintErrors(templates)).toEqual([]);
});

test('windlass lint reports a skill that does not exist, in each template that has a skill', async () => {
  const broken = templates.flatMap(({ id, spec }) => {
    const at = spec.nodes.findIndex(({ skill }) => skill !== undefined);
    const node = spec.nodes[at];
    if (node?.skill === undefined) return [];
    const skill = { ...node.skill, name: 'no_such_skill' };
    return [{ id, spec: { ...spec, nodes: spec.nodes.with(at, { ...node, skill }) } }];
  });
  expect(broken.length).toBeGreaterThan(6);
  const found = (await lintErrors(broken)).filter(({ rule }) => rule === 'UnknownSkill');
  expect(found.map(({ file }) => file)).toEqual(broken.map(({ id }) => `${id}.yaml`).toSorted());
});

test('every credential that a template names has kinds that its nodes accept', () => {
  for (const { id, needs } of templates)
    for (const { kinds } of needs) expect([id, kinds]).not.toEqual([id, []]);
});

test('needs are those of triggers, agents, their fallbacks and tools, and skills, each once', () => {
  const mail = { name: 'send_email', credential: 'post', parameters: {} };
  const tools = [{ skill: 'reply_email', credential: 'post' }, { workflow: 'refund' }];
  const fallback = [{ credential: 'spare', model: 'n' }];
  const nodes = [
    { id: 't', mail: { credential: 'box' } },
    { id: 'a', agent: { credential: 'model', model: 'm', prompt: 'p', tools, fallback } },
    { id: 's', skill: mail },
    { id: 'c', skill: { name: 'set', parameters: {} } },
  ];
  expect(needsOf(nodes)).toEqual([
    { name: 'box', kinds: ['imap', 'oauth2'] },
    { name: 'model', kinds: ['openai', 'anthropic'] },
    { name: 'spare', kinds: ['openai', 'anthropic'] },
    { name: 'post', kinds: ['smtp'] },
  ]);
});

test.each([
  ['# Title\n\nOne [link](../a.md) and `code`\nover lines.\n\nMore.', 'One link and code over lines.'],
  ['# Title', ''],
])('the text of %j', (markdown, text) => {
  expect(firstParagraph(markdown)).toBe(text);
});

test('the first sentence about a template fits its card', () => {
  expect(summaryOf({ text: 'Asks v1.2 of an API. Then it ends.' })).toBe('Asks v1.2 of an API.');
  const summaries = templates.map((template) => summaryOf(template));
  expect(summaries.filter((summary) => summary.length > 140)).toEqual([]);
});

test('no two fields of a template have the same label', () => {
  for (const { id, spec, needs } of templates) {
    const labels = [...needLabels(needs).values(), ...completionsOf(spec).map(({ label }) => label)];
    expect([id, new Set(labels).size]).toEqual([id, labels.length]);
  }
});

test('a search finds names, texts and nodes, with all of its words', () => {
  const ids = (query: string) => matching(templates, query).map(({ id }) => id);
  expect(ids('loop newsletter')).toEqual(['newsletter']);
  expect(ids('callback')).toContain('long-job');
  expect(ids('AGENT mail')).toContain('mail-triage');
  expect(ids('')).toHaveLength(templates.length);
  expect(ids('nothing like this')).toEqual([]);
});
