/**
 * Builds the spec of a credential and the content of its Secrets from the values of the form. Pure. Secret
 * values never get into the spec, which only references the keys of a Secret.
 */
import type { Editor, Field } from '../forms/fields.ts';
import { isRecord, membersOf } from '../../api/record.ts';
import { requiredText } from '../forms/labels.ts';
import { numberProblem } from '../forms/numberProblem.ts';
import { patternProblem } from '../forms/patternProblem.ts';

export type SecretRef = { name: string; key: string };

/** A secret value: typed, or a reference. */
export type SecretEntry =
  | { kind: 'value'; value: string }
  | { kind: 'existing'; ref: SecretRef }
  /** The reference stays; a value that is not empty replaces the stored one. */
  | { kind: 'stored'; ref: SecretRef; value: string };

/** By path without the kind, such as `passwordRef` or `basic.passwordRef` of `smtp.passwordRef`. */
export type Entries = { fields: Record<string, unknown>; secrets: Record<string, SecretEntry> };

export type Built = {
  /** The member of the spec for the kind. */
  account: Record<string, unknown>;
  /** Keys to create or add in the credential's own Secret. */
  own: Record<string, string>;
  /** Keys to replace in existing Secrets, by their names. */
  replaced: Record<string, Record<string, string>>;
  /** Problems, by path. */
  problems: Record<string, string>;
};

/** Builds the account from the fields. Typed values go into the Secret `secretName`. */
export function builtAccount(fields: readonly Field[], entries: Entries, secretName: string): Built {
  const built: Built = { account: {}, own: {}, replaced: {}, problems: {} };
  built.account = objectOf(fields, '', entries.fields, { entries, secretName, built }) ?? {};
  return built;
}

type Walk = { entries: Entries; secretName: string; built: Built };

/** Undefined if no value was given. */
function objectOf(
  fields: readonly Field[],
  path: string,
  given: Record<string, unknown>,
  walk: Walk,
): Record<string, unknown> | undefined {
  const members = fields.flatMap((field) => {
    const value = memberOf(field, joined(path, field.name), given[field.name], walk);
    return value === undefined ? [] : [[field.name, value] as const];
  });
  const isGiven = members.length > 0;
  const mustBeThere = path === '' || isGiven;
  for (const { name, label, isRequired } of fields)
    if (isRequired && mustBeThere && !members.some(([member]) => member === name))
      walk.built.problems[joined(path, name)] ??= requiredText(label);
  return isGiven ? Object.fromEntries(members) : undefined;
}

function memberOf(field: Field, path: string, value: unknown, walk: Walk): unknown {
  const { editor } = field;
  if (editor.kind === 'secretRef') return refOf(field.name, walk.entries.secrets[path], walk);
  if (editor.kind === 'object') return objectOf(editor.fields, path, membersOf(value), walk);
  if (editor.kind === 'number') return numberOf(editor, path, value, walk);
  if (editor.kind === 'boolean') return typeof value === 'boolean' ? value : undefined;
  // An empty list of hosts means none; an omitted list may mean those of a preset.
  if (field.name === 'allowedHosts' && Array.isArray(value)) return listOf(value) ?? [];
  if (editor.kind === 'list') return listOf(value);
  return textAt(editor, path, textOf(value), walk);
}

/** The text, whose form is checked. */
function textAt(editor: Editor, path: string, text: string | undefined, { built }: Walk): string | undefined {
  const pattern = editor.kind === 'text' ? editor.pattern : undefined;
  const problem = text === undefined ? undefined : patternProblem(pattern, text);
  if (problem !== undefined) built.problems[path] = problem;
  return text;
}

function refOf(name: string, entry: SecretEntry | undefined, walk: Walk): SecretRef | undefined {
  if (entry === undefined) return undefined;
  const { own, replaced } = walk.built;
  switch (entry.kind) {
    case 'value': {
      if (entry.value === '') return undefined;
      const key = secretKey(name);
      own[key] = entry.value;
      return { name: walk.secretName, key };
    }
    case 'existing': {
      const ref = { name: entry.ref.name.trim(), key: entry.ref.key.trim() };
      return ref.name === '' || ref.key === '' ? undefined : ref;
    }
    case 'stored': {
      const { ref, value } = entry;
      if (value !== '') replaced[ref.name] = { ...replaced[ref.name], [ref.key]: value };
      return ref;
    }
  }
}

/** The key of a field's value in a Secret: `access-key-id` of `accessKeyIdRef`. */
export function secretKey(field: string): string {
  return field
    .replace(/Ref$/, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase();
}

function numberOf(
  editor: Extract<Editor, { kind: 'number' }>,
  path: string,
  value: unknown,
  { built }: Walk,
): number | undefined {
  if (typeof value !== 'number') return undefined;
  const problem = numberProblem(editor, value);
  if (problem !== undefined) built.problems[path] = problem;
  return value;
}

function listOf(value: unknown): string[] | undefined {
  const texts = Array.isArray(value) ? value.map((text) => String(text).trim()).filter(Boolean) : [];
  return texts.length === 0 ? undefined : texts;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

export function joined(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

/** The initial values of the form of an existing credential. */
export function entriesOf(account: Record<string, unknown>): Entries {
  const secrets: Record<string, SecretEntry> = {};
  const walk = (record: Record<string, unknown>, path: string): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(record).flatMap(([name, value]) => {
        const here = joined(path, name);
        if (name.endsWith('Ref')) {
          secrets[here] = { kind: 'stored', ref: value as SecretRef, value: '' };
          return [];
        }
        return [[name, isRecord(value) ? walk(value, here) : value]];
      }),
    );
  return { fields: walk(account, ''), secrets };
}
