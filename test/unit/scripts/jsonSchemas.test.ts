/** `docs/schemas`: what editors and validators say about manifests, compared with `windlass lint`. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import * as z from 'zod';
import { Linter } from '../../../cli/lint/lint.ts';
import { parseManifests } from '../../../cli/shared/manifests.ts';
import { SKILLS, validateSkill } from '../../../nodes/register.ts';
import { REFUSED_CREDENTIALS, REFUSED_PROJECT_SETTINGS } from '../../integration/api/refused/others.ts';
import { REFUSED_DURATIONS, REFUSED_WORKFLOWS } from '../../integration/api/refused/workflows.ts';
import { readMistakes } from '../../mistakes/mistakes.ts';

const root = join(import.meta.dirname, '../../..');
const folder = join(root, 'docs/schemas');

const ajv = new Ajv({ strict: true, strictRequired: false, strictTypes: false, allErrors: true });
for (const file of readdirSync(folder))
  ajv.addSchema(JSON.parse(readFileSync(join(folder, file), 'utf8')) as object, file);

/** What the schema of all kinds says about a value, as `place: problem`. */
function problemsOf(value: unknown, file = 'windlass.json'): string[] {
  const validate = ajv.getSchema(file);
  if (!validate) throw new Error(`${file} does not exist`);
  if (validate(value) === true) return [];
  return (validate.errors ?? []).map(({ instancePath, message = '' }) => `${instancePath}: ${message}`);
}

async function lintErrors(text: string): Promise<string[]> {
  const linter = new Linter();
  linter.add({ file: 'a.yaml', text });
  const { findings } = await linter.finish();
  return findings.filter(({ severity }) => severity === 'error').map(({ message }) => message);
}

const objectOf = (kind: string, spec: unknown) => ({
  apiVersion: 'windlass.dev/v1alpha1',
  kind,
  metadata: { name: 'default' },
  spec,
});

const withSkill = (skill: object) =>
  objectOf('Workflow', {
    nodes: [
      { id: 'start', manual: {} },
      { id: 'a', skill },
    ],
  });

const REFERENCE = "{{ $('start').data_content }}";
const scalars = fc.oneof(
  fc.constantFrom('', 'a@b.example', 'https://a.example', 'get', 'Raw', '30d', '2xx'),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
);
/** What people may write as a parameter. */
const VALUES = fc.oneof(
  scalars,
  fc.constantFrom(REFERENCE, `a ${REFERENCE}`),
  fc.array(scalars, { maxLength: 3 }),
  fc.dictionary(fc.constantFrom('from', 'a'), fc.oneof(scalars, fc.array(scalars)), {
    noNullPrototype: true,
  }),
);

test.each(readdirSync(folder))(
  '%s is a valid JSON Schema, and each pattern in it can be compiled',
  (file) => {
    expect(ajv.getSchema(file)).toBeTypeOf('function');
  },
);

const examples = readdirSync(join(root, 'examples'), { recursive: true, encoding: 'utf8' }).filter(
  (path) => path.endsWith('.yaml') && !path.includes('kustomization'),
);

test.each(examples)('examples/%s is admitted', (path) => {
  const documents = parseAllDocuments(readFileSync(join(root, 'examples', path), 'utf8'));
  expect(documents.flatMap((document) => problemsOf(document.toJS()))).toEqual([]);
});

describe('what lint admits is admitted', () => {
  const refused = Object.entries({
    Workflow: [...REFUSED_WORKFLOWS, ...REFUSED_DURATIONS],
    Credential: REFUSED_CREDENTIALS,
    ProjectSettings: REFUSED_PROJECT_SETTINGS,
  }).flatMap(([kind, cases]) =>
    cases.map(([what, spec]) => [`${kind}: ${what}`, JSON.stringify(objectOf(kind, spec))] as const),
  );
  const mistakes = readMistakes().map(({ wrong, manifest }) => [wrong, manifest] as const);

  test.each([...refused, ...mistakes])('%s', async (_what, text) => {
    const problems = parseManifests(text).manifests.flatMap(({ value }) => problemsOf(value));
    const errors = problems.length > 0 ? await lintErrors(text) : [];
    expect(errors.length > 0 ? [] : problems).toEqual([]);
  });

  test.each(SKILLS)('the parameters of $name, whatever is written', ({ name, parameters }) => {
    const names = parameters instanceof z.ZodObject ? Object.keys(parameters.shape) : [];
    const written = fc.dictionary(fc.constantFrom(...names, 'nope'), VALUES, { noNullPrototype: true });
    fc.assert(
      fc.property(written, (given) => {
        const problems = problemsOf(given, `workflow_v1alpha1.json#/definitions/${name}`);
        expect(validateSkill(name, given).length > 0 ? [] : problems).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });
});

describe('what editors mark', () => {
  const fields = (extra: object) => ({
    name: 'http_request',
    parameters: { url: 'https://a.example', ...extra },
  });
  const tool = (given: object) =>
    objectOf('Workflow', {
      nodes: [
        { id: 'start', manual: {} },
        { id: 'a', agent: { credential: 'c', model: 'm', prompt: 'p', tools: [given] } },
      ],
    });

  test.each([
    [
      'a field that does not exist',
      objectOf('Workflow', { nodes: [], actve: true }),
      '/spec: must NOT have additional properties',
    ],
    ['a value of the wrong type', objectOf('Workflow', { nodes: 1 }), '/spec/nodes: must be array'],
    ['a kind that does not exist', objectOf('Flow', {}), '/kind: must be equal to one of the allowed values'],
    [
      'an unknown skill',
      withSkill({ name: 'send_mail' }),
      '/spec/nodes/1/skill/name: must be equal to one of the allowed values',
    ],
    [
      'an unknown parameter',
      withSkill(fields({ uri: 1 })),
      '/spec/nodes/1/skill/parameters: must NOT have additional properties',
    ],
    [
      'a missing parameter',
      withSkill({ name: 'http_request', parameters: {} }),
      "/spec/nodes/1/skill/parameters: must have required property 'url'",
    ],
    [
      'missing parameters',
      withSkill({ name: 'http_request' }),
      "/spec/nodes/1/skill: must have required property 'parameters'",
    ],
    [
      'a parameter of the wrong type',
      withSkill(fields({ followRedirects: 'many' })),
      '/spec/nodes/1/skill/parameters/followRedirects: must be integer',
    ],
    [
      'a missing credential',
      withSkill({ name: 'read_rows', parameters: { spreadsheetId: 'a' } }),
      "/spec/nodes/1/skill: must have required property 'credential'",
    ],
    [
      'a credential that is not taken',
      withSkill({ name: 'set', credential: 'a', parameters: { values: {} } }),
      '/spec/nodes/1/skill/credential: boolean schema is false',
    ],
    [
      'an unknown parameter of a tool',
      tool({ skill: 'http_request', parameters: { uri: 1 } }),
      '/spec/nodes/1/agent/tools/0/parameters: must NOT have additional properties',
    ],
    [
      'a skill that cannot be a tool',
      tool({ skill: 'set' }),
      '/spec/nodes/1/agent/tools/0/skill: must be equal to one of the allowed values',
    ],
    [
      'a label that is a number',
      { ...objectOf('Credential', {}), metadata: { name: 'a', labels: { tier: 1 } } },
      '/metadata/labels/tier: must be string',
    ],
  ])('%s', (_what, value, problem) => {
    expect(problemsOf(value)).toContain(problem);
  });

  test.each([
    ['a reference in place of a number', withSkill(fields({ followRedirects: REFERENCE }))],
    ['references inside a list', withSkill(fields({ expect: [200, REFERENCE] }))],
    ['a method in lower case', withSkill(fields({ method: 'get' }))],
    [
      'a tool without the parameters that the model sets',
      tool({ skill: 'http_request', modelMaySet: { url: 'https://a.example/*' } }),
    ],
    ['a tool that is a workflow', tool({ workflow: 'refund', parameters: { reason: 1 } })],
    [
      'an object of another group',
      { apiVersion: 'argoproj.io/v1alpha1', kind: 'Workflow', spec: { entrypoint: 'a' } },
    ],
    ['a file without an object', null],
  ])('is not %s', (_what, value) => {
    expect(problemsOf(value)).toEqual([]);
  });
});
