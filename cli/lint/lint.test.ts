import { describe, expect, test } from 'vitest';
import { readMistakes } from '../../test/mistakes/mistakes.ts';
import { Linter } from './lint.ts';

async function lint(...texts: string[]) {
  const linter = new Linter();
  for (const [index, text] of texts.entries()) linter.add({ file: `${index}.yaml`, text });
  return linter.finish();
}

const head = (kind: string, name: string, namespace?: string) =>
  `apiVersion: windlass.dev/v1alpha1\nkind: ${kind}\nmetadata: { name: ${name}${namespace ? `, namespace: ${namespace}` : ''} }\nspec:\n`;

const workflow = (name: string, nodes: string, more = '', namespace?: string) =>
  `${head('Workflow', name, namespace)}  active: true\n${more}  nodes:\n    - { id: start, manual: {} }\n    - ${nodes}\n`;

const sends = (credential: string) =>
  workflow(
    'orders',
    `{ id: mail, skill: { name: send_email, credential: ${credential}, parameters: { to: a@b.example, subject: s, body: b } } }`,
  );

/** Templates of other products are skipped, and told when nothing else is there. */
const isOurs = ({ manifest }: { manifest: string }) => !manifest.includes('argoproj.io');

describe('mistakes that people make', () => {
  const mistakes = readMistakes().filter((each) => each.caught !== 'run' && isOurs(each));

  test.each(mistakes.map((mistake) => [mistake.wrong, mistake] as const))(
    '%s: lint says what the cluster would say',
    async (_wrong, { manifest, says }) => {
      const { findings } = await lint(manifest);
      expect(findings.map(({ message }) => message).join('\n')).toContain(says);
    },
  );
});

describe('a finding of the operator has the place of its field', () => {
  test.each([
    ['an unknown skill', '{ id: a, skill: { name: nope } }', ['UnknownSkill', 8, 23]],
    [
      'a wrong reference',
      '{ id: a, response: { body: "{{ $(\'b\').text_content }}" } }',
      ['UnknownReference', 8, 34],
    ],
    ['code that is no JavaScript', "{ id: a, code: { source: 'return (' } }", ['InvalidCode', 8, 32]],
  ])('%s', async (_what, node, [rule, line, column]) => {
    const { findings } = await lint(workflow('orders', node));
    expect(findings).toMatchObject([{ severity: 'error', rule, line, column, object: 'Workflow/orders' }]);
  });

  test.each([
    [
      'a reference in a parameter',
      "{ id: a, skill: { name: http_request, parameters: { url: 'https://a.example', body: \"{{ $('b').text_content }}\" } } }",
      ['UnknownReference', 8, 91],
    ],
    [
      'a credential that is missing',
      '{ id: a, skill: { name: send_email, credential: smtp, parameters: { to: a@b.example, subject: s, body: b } } }',
      ['CredentialMissing', 8, 55],
    ],
  ])('in a map on one line: %s', async (_what, node, [rule, line, column]) => {
    expect((await lint(workflow('orders', node))).findings).toMatchObject([{ rule, line, column }]);
  });

  test('also of an edge', async () => {
    const edges = '  edges:\n    - { from: start, to: a, when: "nodes.b.text_content == 1" }\n';
    const { findings } = await lint(workflow('orders', '{ id: a, response: {} }', edges));
    expect(findings).toMatchObject([{ rule: 'UnknownReference', line: 7, column: 35 }]);
  });

  test('a name that kubectl reads as a boolean has a warning', async () => {
    const values = '{ id: a, skill: { name: set, parameters: { values: { n: "1" } } } }';
    const { findings } = await lint(workflow('orders', values));
    expect(findings).toMatchObject([{ severity: 'warning', rule: 'YAML', line: 8, column: 60 }]);
    expect(findings[0]?.message).toContain('stores the name n as "false"');
  });

  test('an unknown field has the place of its name', async () => {
    const { findings } = await lint(workflow('orders', '{ id: a, response: { boddy: x } }'));
    expect(findings).toMatchObject([{ rule: 'Schema', line: 8, column: 28 }]);
  });
});

describe('objects that are named together', () => {
  const smtp = `${head('Credential', 'mail')}  smtp: { host: mail.example, from: a@b.example }\n`;
  const http = `${head('Credential', 'mail')}  http: { bearer: { tokenRef: { name: a, key: b } } }\n`;

  test('a credential that is missing is a warning', async () => {
    const { findings } = await lint(sends('mail'));
    expect(findings).toMatchObject([{ severity: 'warning', rule: 'CredentialMissing' }]);
  });

  test('a credential that is there is right', async () => {
    expect((await lint(sends('mail'), smtp)).findings).toEqual([]);
  });

  test('a credential of another kind is an error', async () => {
    const { findings } = await lint(sends('mail'), http);
    expect(findings).toMatchObject([{ severity: 'error', rule: 'WrongCredentialKind' }]);
  });

  test('workflows that run each other are an error, wherever they are', async () => {
    const call = (name: string) => `{ id: call, workflow: { name: ${name} } }`;
    const { findings } = await lint(workflow('a', call('b')), workflow('b', call('a')));
    expect(findings).toMatchObject([{ rule: 'WorkflowCycle' }, { rule: 'WorkflowCycle' }]);
  });

  test('objects of another namespace do not count', async () => {
    const callee = workflow('b', '{ id: a, response: {} }', '', 'other');
    const { findings } = await lint(workflow('a', '{ id: call, workflow: { name: b } }'), callee);
    expect(findings).toMatchObject([{ severity: 'warning', rule: 'WorkflowMissing' }]);
  });

  test('variables are those of the ConfigMap', async () => {
    const config =
      'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: windlass-variables }\ndata: { shop: a }\n';
    const reads = workflow('a', '{ id: a, response: { body: "{{ $vars.shop }} {{ $vars.none }}" } }');
    const { findings } = await lint(reads, config);
    expect(findings.map(({ message }) => message)).toEqual([
      expect.stringContaining('the variable none does not exist') as string,
    ]);
  });

  test('an error workflow that is not among them is a warning', async () => {
    const { findings } = await lint(
      workflow('a', '{ id: a, response: {} }', '  onFailure: { workflow: b }\n'),
    );
    expect(findings).toMatchObject([{ severity: 'warning', rule: 'Note' }]);
  });

  test('an object that is twice in a file is an error, and in two files it is not', async () => {
    expect((await lint(`${smtp}---\n${smtp}`)).findings).toMatchObject([{ rule: 'Repeated', line: 9 }]);
    expect((await lint(smtp, smtp)).findings).toEqual([]);
  });
});

test('a workflow that does not say whether it is active has a warning, as the admission policy gives it', async () => {
  const text = workflow('a', '{ id: a, response: {} }');
  expect((await lint(text.replace('  active: true\n', ''))).findings).toMatchObject([
    { severity: 'warning', rule: 'Inactive' },
  ]);
  expect((await lint(text.replace('active: true', 'active: false'))).findings).toEqual([]);
});

test('objects of others are skipped, and namesakes are told', async () => {
  const others = 'apiVersion: v1\nkind: Service\n---\napiVersion: argoproj.io/v1alpha1\nkind: Workflow\n';
  expect(await lint(others)).toEqual({
    findings: [],
    objects: 0,
    namesakes: ['Workflow of argoproj.io/v1alpha1'],
  });
});
