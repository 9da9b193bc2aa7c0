/**
 * The console's forms know every field that there is: a new one that no editor fits fails here and not in the
 * browser.
 */
import { expect, test } from 'vitest';
import { alternativesOf, fieldsOf, HINTED, type Editor, type Field } from '../../../console/forms/fields.ts';
import { settingGroups } from '../../../console/editor/settings/settings.ts';
import { choiceLabel, labelOf } from '../../../console/forms/labels.ts';
import { patternProblem, UNKNOWN } from '../../../console/forms/patternProblem.ts';
import type { FieldSchema } from '../../../console/forms/schemas.ts';
import { consoleSchemas } from '../../../images/schemas.ts';
import { pollsWith } from '../../../nodes/pollers.ts';

const { triggers, steps, stepOptions, workflow, skills, credentials } = consoleSchemas();

const shown: [path: string, schema: FieldSchema, isExpression: boolean][] = [
  ...Object.entries({ ...triggers, ...steps }).map(
    ([path, schema]) => [path, schema, false] as [string, FieldSchema, boolean],
  ),
  ...Object.entries(credentials).map(
    ([kind, schema]) => [`credential.${kind}`, schema, false] as [string, FieldSchema, boolean],
  ),
  ['options', { type: 'object', properties: stepOptions }, false],
  ['settings', workflow, false],
  ...skills.map(({ name, parameters }) => [name, parameters, true] as [string, FieldSchema, boolean]),
];

test.each(shown)('every field of %s has an editor and a help text', (path, schema, isExpression) => {
  const fields = fieldsOf(schema, { path, isExpression });
  expect(fields.map(({ name }) => name).toSorted()).toEqual(Object.keys(schema.properties ?? {}).toSorted());
  expect(fields.filter(({ help }) => help === undefined)).toEqual([]);
});

test('the help of a form says nothing that concerns manifests alone', () => {
  const isForeign = /namespace|\bstatus\.\w|\bYAML\b|\bchart\b|docs\/|Left out|\bCRD\b|manifest/;
  const helpsOf = ({ label, help = '', editor }: Field): string[] => [
    ...(isForeign.test(help) ? [`${label}: ${help}`] : []),
    ...(editor.kind === 'object' ? editor.fields.flatMap(helpsOf) : []),
    ...(editor.kind === 'oneOf' ? [...editor.options, ...editor.common].flatMap(helpsOf) : []),
  ];
  const fields = shown.flatMap(([path, schema, isExpression]) => fieldsOf(schema, { path, isExpression }));
  expect(fields.flatMap(helpsOf)).toEqual([]);
});

const textsOf = ({ path, help = '', editor }: Field & { path: string }): [path: string, help: string][] => [
  [path, help],
  ...innerOf(editor).flatMap((field) => textsOf({ ...field, path: `${path}.${field.name}` })),
];

/** The fields of an editor, and those of the elements of a list. */
function innerOf(editor: Editor): Field[] {
  if (editor.kind === 'object') return editor.fields;
  if (editor.kind === 'oneOf') return [...editor.options, ...editor.common];
  return editor.kind === 'list' ? innerOf(editor.item) : [];
}

const fieldsAt = ([path, schema, isExpression]: (typeof shown)[number]) =>
  fieldsOf(schema, { path, isExpression }).map((field) => ({ ...field, path: `${path}.${field.name}` }));

test('the help of a form has the labels of fields and choices, and not their names', () => {
  const parts = shown.flatMap(([, schema]) => partsOf(schema));
  const names = parts.flatMap(({ properties = {} }) => Object.keys(properties));
  const values = parts.flatMap(({ enum: values = [] }) => values.map(String));
  const replaced = new Set([
    ...names.filter((name) => /[a-z][A-Z]/.test(name) && labelOf(name) !== name),
    ...values.filter((value) => choiceLabel(value) !== value),
  ]);
  const texts = shown.flatMap(fieldsAt).flatMap(textsOf);
  const isForeign = ([, help]: [string, string]) =>
    help.split(/[^\w.$'-]+/).some((word) => replaced.has(word));
  expect(texts.filter(isForeign)).toEqual([]);
});

/** A schema with all schemas in it. */
function partsOf(schema: FieldSchema): FieldSchema[] {
  const { properties = {}, items } = schema;
  return [schema, ...[...Object.values(properties), ...(items ? [items] : [])].flatMap(partsOf)];
}

test('triggers, steps, agents and tools ask for a credential in one wording', () => {
  const helps = shown
    .flatMap(fieldsAt)
    .flatMap(textsOf)
    .flatMap(([path, help]) => (path.endsWith('.credential') ? [help] : []));
  expect(new Set(helps)).toEqual(
    new Set(['The account to use.', 'The account to use at the provider of the model.']),
  );
});

test('a text of a wrong form is told what to enter', () => {
  const patternsOf = (editor: Editor): string[] => [
    ...(editor.kind === 'text' && editor.pattern !== undefined ? [editor.pattern] : []),
    ...(editor.kind === 'list' ? patternsOf(editor.item) : []),
    ...innerOf(editor).flatMap((field) => patternsOf(field.editor)),
  ];
  const patterns = new Set(shown.flatMap(fieldsAt).flatMap(({ editor }) => patternsOf(editor)));
  const told = [...patterns].map((pattern) => [pattern, patternProblem(pattern, ' :/@\n')]);
  expect(told.filter(([, problem]) => problem === undefined || problem === UNKNOWN)).toEqual([]);
});

test('what nobody can leave out is shown at once', () => {
  const isShown = (kind: string, name: string) =>
    shown
      .flatMap(fieldsAt)
      .some(({ path, isRequired, isCommon }) =>
        path === `${kind}.${name}` ? isRequired || isCommon === true : false,
      );
  for (const [kind, name] of [
    ['download_file', 'fileId'],
    ['upload_file', 'name'],
    ['fileStorage', 'folderId'],
    ['webhook', 'auth'],
    ['response', 'body'],
    ['agent', 'tools'],
  ] as const)
    expect([kind, name, isShown(kind, name)]).toEqual([kind, name, true]);
});

test('a field whose description mentions references accepts them', () => {
  const says = /may hold references|A reference to/i;
  const missing = shown
    .flatMap(([path, schema, isExpression]) => fieldsOf(schema, { path, isExpression }))
    .filter(
      ({ help = '', isExpression, editor }) => says.test(help) && !isExpression && editor.kind !== 'json',
    );
  expect(missing).toEqual([]);
});

test('a kind of node that needs exactly one of several fields shows them as alternatives', () => {
  const isExclusive = ({ 'x-kubernetes-validations': rules = [] }: FieldSchema) =>
    rules.some(({ rule }) => /^\[has\(self\..*size\(\) == 1$/.test(rule));
  const exclusive = Object.entries({ ...triggers, ...steps }).filter(([, schema]) => isExclusive(schema));
  expect(exclusive.map(([kind]) => kind)).toContain('wait');
  for (const [, schema] of exclusive) expect(alternativesOf(schema).length).toBeGreaterThan(1);
});

test('every hint is for a field that exists', () => {
  const pathsOf = (path: string, { properties = {} }: FieldSchema): string[] =>
    Object.entries(properties).flatMap(([name, member]) => [
      `${path}.${name}`,
      ...pathsOf(`${path}.${name}`, member),
      ...pathsOf(`${path}.${name}[]`, member.items ?? {}),
    ]);
  const known = new Set(shown.flatMap(([path, schema]) => pathsOf(path, schema)));
  expect(HINTED.filter((path) => !known.has(path))).toEqual([]);
});

test('a trigger offers the credential kinds of its poller', () => {
  const offered = (kind: string) => credentialsIn(fieldsOf(triggers[kind] ?? {}, { path: kind }));
  for (const kind of ['mail', 'spreadsheet', 'fileStorage'])
    expect(offered(kind)).toEqual([...pollsWith(kind)]);
  expect(Object.keys(credentials)).toEqual(expect.arrayContaining(offered('bot')));
});

function credentialsIn(fields: Field[]): string[] {
  return fields.flatMap(({ editor }: { editor: Editor }) =>
    editor.kind === 'credential' ? editor.kinds : [],
  );
}

test('the settings of a workflow are in the form, but for those with inputs of their own', () => {
  const leaves = ({ properties = {} }: FieldSchema, prefix = ''): string[] =>
    Object.entries(properties).flatMap(([name, member]) =>
      member.properties === undefined ? [`${prefix}${name}`] : leaves(member, `${prefix}${name}.`),
    );
  const shownSettings = settingGroups(workflow).flatMap(({ fields }) => fields.map(({ name }) => name));
  expect(shownSettings.toSorted()).toEqual(
    leaves(workflow)
      .filter((name) => !['displayName', 'suspend'].includes(name))
      .toSorted(),
  );
});
