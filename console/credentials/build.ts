/**
 * From what was typed into the form of a credential to its spec, and to what goes into Secrets. Pure. Values that are secret never
 * get into the spec: it names the keys of a Secret that hold them.
 */
import type { Editor, Field } from '../forms/fields.ts';

/** A reference to a Secret key. */
export type SecretRef = { name: string; key: string };

/** What was said of a secret value: typed, or where it lies. */
export type SecretEntry =
  | { kind: 'value'; value: string }
  | { kind: 'existing'; ref: SecretRef }
  /** Where it lies stays; a value that is not empty replaces what is there. */
  | { kind: 'stored'; ref: SecretRef; value: string };

/** By path, such as `smtp.passwordRef` without the kind: `passwordRef`, `basic.passwordRef`. */
export type Entries = { fields: Record<string, unknown>; secrets: Record<string, SecretEntry> };

export type Built = {
  /** The member of the spec that the kind names. */
  account: Record<string, unknown>;
  /** What the credential's own Secret is to hold, by key; it is made, or these are added to it. */
  own: Record<string, string>;
  /** What is replaced in Secrets that are there, by their names. */
  replaced: Record<string, Record<string, string>>;
  /** What is wrong, by path. */
  problems: Record<string, string>;
};

/** Builds the account of the fields. `secretName` is the Secret that typed values go into. */
export function builtAccount(fields: readonly Field[], entries: Entries, secretName: string): Built {
  const built: Built = { account: {}, own: {}, replaced: {}, problems: {} };
  built.account = objectOf(fields, '', entries.fields, { entries, secretName, built }) ?? {};
  return built;
}

type Walk = { entries: Entries; secretName: string; built: Built };

/** Undefined where nothing was given. */
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
  for (const { name, isRequired } of fields)
    if (isRequired && mustBeThere && !members.some(([member]) => member === name))
      walk.built.problems[joined(path, name)] ??= 'Required';
  return isGiven ? Object.fromEntries(members) : undefined;
}

function memberOf(field: Field, path: string, value: unknown, walk: Walk): unknown {
  const { editor } = field;
  if (editor.kind === 'secretRef') return refOf(field.name, walk.entries.secrets[path], walk);
  if (editor.kind === 'object') return objectOf(editor.fields, path, recordOf(value), walk);
  if (editor.kind === 'number') return numberOf(editor, path, value, walk);
  if (editor.kind === 'boolean') return typeof value === 'boolean' ? value : undefined;
  // An empty list of hosts means none, where a list that is left out may mean those of a preset.
  if (field.name === 'allowedHosts' && Array.isArray(value)) return listOf(value) ?? [];
  return editor.kind === 'list' ? listOf(value) : textOf(value);
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

/** The key of a Secret that a field's value lies under: `access-key-id` of `accessKeyIdRef`. */
export function secretKey(field: string): string {
  return field
    .replace(/Ref$/, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase();
}

function numberOf(
  { minimum, maximum, isWhole }: Extract<Editor, { kind: 'number' }>,
  path: string,
  value: unknown,
  { built }: Walk,
): number | undefined {
  if (typeof value !== 'number') return undefined;
  const isTooSmall = minimum !== undefined && value < minimum;
  const isTooLarge = maximum !== undefined && value > maximum;
  if (isTooSmall || isTooLarge || (isWhole && !Number.isInteger(value)))
    built.problems[path] =
      maximum === undefined
        ? `Enter a number of at least ${minimum ?? 0}`
        : `Enter a number from ${minimum ?? 0} to ${maximum}`;
  return value;
}

function listOf(value: unknown): string[] | undefined {
  const texts = Array.isArray(value) ? value.map((text) => String(text).trim()).filter(Boolean) : [];
  return texts.length === 0 ? undefined : texts;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** Path and name as one path. */
export function joined(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

/** What the form of a credential that is there begins with: its fields, and its references as they are. */
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
        const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
        return [[name, isObject ? walk(value as Record<string, unknown>, here) : value]];
      }),
    );
  return { fields: walk(account, ''), secrets };
}

/** A merge patch (RFC 7396) that makes one of the other. Lists are replaced whole. */
export function mergePatch(
  before: Record<string, unknown>,
  next: Record<string, unknown>,
): Record<string, unknown> {
  const gone = Object.keys(before).filter((name) => !Object.hasOwn(next, name));
  const changed = Object.entries(next).flatMap(([name, value]) => {
    const old = before[name];
    if (isPlain(old) && isPlain(value)) {
      const inner = mergePatch(old, value);
      return Object.keys(inner).length === 0 ? [] : [[name, inner] as const];
    }
    return JSON.stringify(old) === JSON.stringify(value) ? [] : [[name, value] as const];
  });
  return Object.fromEntries([...gone.map((name) => [name, null] as const), ...changed]);
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
