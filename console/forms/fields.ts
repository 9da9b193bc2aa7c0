/**
 * The fields of a form, derived from the JSON Schemas that the CRDs come from. Pure. Required fields come
 * first, then those that most users fill in. A schema without a fitting editor is an error, which a test over
 * all schemas finds.
 */
import { ACCEPTED_CREDENTIALS } from '../../api/credentialKinds.ts';
import type { DurationBounds } from '../../api/duration.ts';
import type { FieldSchema } from './schemas.ts';
import { labelOf } from './labels.ts';

/** How a value is edited. */
export type Editor =
  | { kind: 'text'; pattern?: string; maxLength?: number }
  | { kind: 'longText' }
  | { kind: 'number'; isWhole: boolean; minimum?: number; maximum?: number }
  | { kind: 'boolean'; isOnByDefault: boolean }
  | { kind: 'choice'; options: string[] }
  | { kind: 'choices'; options: string[] }
  | { kind: 'duration'; bounds: DurationBounds }
  /** A string, number, boolean or null on one line. */
  | { kind: 'scalar' }
  | { kind: 'list'; item: Editor }
  | { kind: 'map'; value: Editor }
  | { kind: 'object'; fields: Field[] }
  /** At most one of `options`, plus the fields that all of them share. */
  | { kind: 'oneOf'; options: Field[]; common: Field[] }
  /** One of several shapes: the current one, or the one that the user selects. */
  | { kind: 'shapes'; shapes: Editor[] }
  | { kind: 'json'; accepts: 'any' | 'object' }
  | { kind: 'secretRef' }
  | { kind: 'credential'; kinds: readonly string[] }
  | { kind: 'model' }
  | { kind: 'workflow' }
  | { kind: 'skill' }
  | { kind: 'tools' }
  | { kind: 'cron' }
  | { kind: 'timeZone' }
  | { kind: 'celValues' }
  | { kind: 'celCondition' }
  | { kind: 'javaScript' };

export type Field = {
  name: string;
  label: string;
  help?: string;
  isRequired: boolean;
  /** Optional, and shown without "More options", as most users fill it in. */
  isCommon?: boolean;
  /** Texts may hold references. */
  isExpression: boolean;
  placeholder?: string;
  editor: Editor;
};

export type FieldOptions = {
  /** The path of the schema, such as `webhook` or `skill.parameters`, by which hints are found. */
  path: string;
  /** Every value may be a reference. */
  isExpression?: boolean;
  /** Fields that are edited elsewhere. */
  without?: readonly string[];
};

export function fieldsOf(
  schema: FieldSchema,
  { path, isExpression = false, without = [] }: FieldOptions,
): Field[] {
  const required = schema.required ?? [];
  const fields = Object.entries(schema.properties ?? {})
    .filter(([name]) => !without.includes(name))
    .map(([name, property]) =>
      fieldOf(name, property, {
        path: `${path}.${name}`,
        isRequired: required.includes(name),
        isExpression,
      }),
    );
  const rank = ({ isRequired, isCommon }: Field) => (isRequired ? 0 : isCommon ? 1 : 2);
  return fields.toSorted((one, other) => rank(one) - rank(other));
}

type Place = { path: string; isRequired: boolean; isExpression: boolean };

function fieldOf(name: string, schema: FieldSchema, { path, isRequired, isExpression }: Place): Field {
  const hint = hintOf(path);
  const holdsReferences =
    isExpression || hint?.isExpression === true || MAY_REFER.test(schema.description ?? '');
  const placeholder = placeholderOf(schema);
  return {
    name,
    label: hint?.label ?? labelOf(name),
    isRequired,
    isExpression: holdsReferences,
    editor: hint?.editor ?? editorOf(schema, path, holdsReferences),
    ...(hint?.isCommon && { isCommon: true }),
    ...helpOf(hint, schema),
    ...(placeholder !== undefined && { placeholder }),
  };
}

/** A description in the words of a form, in which a field that is left out is empty. */
function helpOf(hint: Hint | undefined, { description }: FieldSchema): { help?: string } {
  if (hint?.help !== undefined) return { help: hint.help };
  return description === undefined ? {} : { help: formText(description) };
}

function formText(description: string): string {
  return description
    .replaceAll('Left out:', 'Empty:')
    .replaceAll(', in the same namespace', '')
    .replaceAll('the ProjectSettings of the namespace', 'the settings of the project');
}

/** The words with which a description says so. */
const MAY_REFER = /\bmay contain references\b/i;
const DEFAULT = /\bDefault:? (https?:\/\/[^\s;,]*[^\s;,.]|[^.;,]+(?:\.\d+)?)/;

/** The default, from the schema or its description. */
function placeholderOf({ default: given, description = '' }: FieldSchema): string | undefined {
  if (typeof given === 'string' || typeof given === 'number') return String(given);
  return DEFAULT.exec(description)?.[1];
}

/** Longer texts get several lines. */
const LONGEST_LINE = 8_192;

/** The editor of a schema. Throws if none fits. */
export function editorOf(schema: FieldSchema, path: string, isExpression = false): Editor {
  const { type, properties, items, anyOf } = schema;
  if (anyOf !== undefined) return editorOfShapes(anyOf, path, isExpression);
  if (schema.enum !== undefined) return { kind: 'choice', options: schema.enum.map(String) };
  if (Array.isArray(type)) return { kind: 'scalar' };
  if (type === 'array') return editorOfList(items ?? {}, path, isExpression);
  if (type === 'object' && properties !== undefined) return editorOfObject(schema, path, isExpression);
  if (type === 'object') return editorOfMap(schema, path, isExpression);
  if (type === undefined) return { kind: 'json', accepts: 'any' };
  return editorOfOne(schema, path);
}

function editorOfOne(schema: FieldSchema, path: string): Editor {
  const { type } = schema;
  if (type === 'string') return editorOfText(schema);
  if (type === 'integer' || type === 'number') return editorOfNumber(schema);
  if (type !== 'boolean') throw new Error(`no editor for ${path}: ${JSON.stringify(schema)}`);
  return { kind: 'boolean', isOnByDefault: schema.default === true || placeholderOf(schema) === 'true' };
}

function editorOfText({ pattern, maxLength, 'x-windlass-duration': bounds }: FieldSchema): Editor {
  if (bounds !== undefined) return { kind: 'duration', bounds };
  if (maxLength !== undefined && maxLength > LONGEST_LINE) return { kind: 'longText' };
  return {
    kind: 'text',
    ...(pattern !== undefined && { pattern }),
    ...(maxLength !== undefined && { maxLength }),
  };
}

function editorOfNumber({ type, minimum, maximum }: FieldSchema): Editor {
  return {
    kind: 'number',
    isWhole: type === 'integer',
    ...(minimum !== undefined && { minimum }),
    ...(maximum !== undefined && { maximum }),
  };
}

function editorOfList(items: FieldSchema, path: string, isExpression: boolean): Editor {
  if (items.enum !== undefined) return { kind: 'choices', options: items.enum.map(String) };
  return { kind: 'list', item: editorOf(items, `${path}[]`, isExpression) };
}

/** Validation rules that require exactly one of several members. */
const ONE_OF_TWO = /^has\(self\.(\w+)\) != has\(self\.(\w+)\)$/;
const EXACTLY_ONE = /^\[(has\(self\.\w+\)(?:, has\(self\.\w+\))*)\]\.filter\((\w+), \2\)\.size\(\) == 1$/;

function editorOfObject(schema: FieldSchema, path: string, isExpression: boolean): Editor {
  const { properties = {}, required = [], additionalProperties } = schema;
  const isSecretRef =
    required.includes('name') && required.includes('key') && Object.keys(properties).length === 2;
  if (isSecretRef) return { kind: 'secretRef' };
  // Objects with further members are references, or are edited as JSON.
  if (typeof additionalProperties === 'object') return { kind: 'json', accepts: 'object' };
  const fields = fieldsOf(schema, { path, isExpression });
  const names = alternativesOf(schema);
  if (names.length === 0) return { kind: 'object', fields };
  return {
    kind: 'oneOf',
    options: fields.filter(({ name }) => names.includes(name)),
    common: fields.filter(({ name }) => !names.includes(name)),
  };
}

/** The members of which exactly one must be given. */
export function alternativesOf({ 'x-kubernetes-validations': rules = [] }: FieldSchema): string[] {
  const pairs = rules.flatMap(({ rule }) => ONE_OF_TWO.exec(rule)?.slice(1) ?? []);
  if (pairs.length > 0) return pairs;
  const found = rules.flatMap(({ rule }) => EXACTLY_ONE.exec(rule)?.[1] ?? []);
  return found.flatMap((list) => [...list.matchAll(/self\.(\w+)/g)].map(([, name = '']) => name));
}

function editorOfMap(schema: FieldSchema, path: string, isExpression: boolean): Editor {
  const { additionalProperties } = schema;
  const isFree = schema['x-windlass-free'] === true || typeof additionalProperties !== 'object';
  if (isFree) return { kind: 'json', accepts: 'object' };
  const isAny = Object.keys(additionalProperties).length === 0;
  return {
    kind: 'map',
    value: isAny ? { kind: 'scalar' } : editorOf(additionalProperties, `${path}{}`, isExpression),
  };
}

/** Texts, numbers, and "one or a list of them" are edited on one line. */
function editorOfShapes(anyOf: FieldSchema[], path: string, isExpression: boolean): Editor {
  const shapes = anyOf.filter(({ type }) => type !== 'null');
  const isLine = ({ type }: FieldSchema) => type !== 'object' && type !== 'array';
  if (shapes.some(isLine)) return { kind: 'scalar' };
  return { kind: 'shapes', shapes: shapes.map((shape) => editorOf(shape, path, isExpression)) };
}

/**
 * What schemas do not say about a field: a special editor, whether it holds expressions, labels, help without
 * what concerns manifests alone, and whether most users fill it in. Keys are paths of fields; those of a
 * skill start with its name.
 */
type Hint = { editor?: Editor; isExpression?: boolean; label?: string; help?: string; isCommon?: boolean };

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

const HINTS: Record<string, Hint> = {
  'schedule.cron': { editor: { kind: 'cron' } },
  'schedule.timeZone': { editor: { kind: 'timeZone' } },
  'webhook.path': { help: 'The last part of the URL. The button beside Active shows the whole URL.' },
  'webhook.auth': {
    help: 'How callers prove who they are. Empty: the webhook is public, and anybody who knows the URL may call. The project can require that it is set.',
  },
  'webhook.dedupe': {
    help: 'How to detect that two requests are the same event. The IDs of Standard Webhooks and GitHub, and the header Idempotency-Key, take precedence.',
  },
  'webhook.rateLimit': {
    help: 'How many requests are accepted. Those beyond it get the status 429. Empty: the limit of the installation.',
  },
  'webhook.auth.none': { label: 'Public (no authentication)' },
  'chat.welcome': { editor: { kind: 'longText' } },
  'mail.credential': { editor: { kind: 'credential', kinds: ACCEPTED_CREDENTIALS.mail } },
  'spreadsheet.credential': { editor: { kind: 'credential', kinds: ACCEPTED_CREDENTIALS.spreadsheet } },
  'fileStorage.credential': { editor: { kind: 'credential', kinds: ACCEPTED_CREDENTIALS.fileStorage } },
  'bot.credential': { editor: { kind: 'credential', kinds: ACCEPTED_CREDENTIALS.bot } },
  'agent.credential': {
    editor: { kind: 'credential', kinds: ACCEPTED_CREDENTIALS.agent },
    help: 'The account at the provider of the model.',
  },
  'agent.fallback[].credential': { editor: { kind: 'credential', kinds: ACCEPTED_CREDENTIALS.agent } },
  'agent.model': { editor: { kind: 'model' }, isExpression: true },
  'agent.systemPrompt': { isExpression: true, isCommon: true },
  'agent.prompt': { isExpression: true },
  'agent.images': { isExpression: true },
  'workflow.name': { editor: { kind: 'workflow' }, label: 'Workflow' },
  'agent.tools': { editor: { kind: 'tools' } },
  'skill.name': { editor: { kind: 'skill' }, label: 'Skill', help: 'What the step does.' },
  'skill.credential': { help: 'The account that the step uses.' },
  'response.headers': {
    isExpression: true,
    help: 'HTTP headers. Values may contain references. Headers that concern the connection (such as Content-Length), the whole host (such as Set-Cookie) or proxies are refused.',
  },
  'response.body': { isExpression: true },
  'code.source': { editor: { kind: 'javaScript' }, label: 'JavaScript' },
  'options.forEach.items': { isExpression: true, help: 'A reference to a list.' },
  'options.repeat.delay': { isCommon: true },
  'options.onError': {
    help: 'What happens when this node fails. Fail: the run fails, unless a connection from this node runs when it fails; Continue: the run goes on, and .error of this node says why. Default Fail.',
  },
  'options.repeat.until': { editor: { kind: 'celCondition' } },
  'options.repeat.limit': { label: 'At most (executions)' },
  'workflow.description': { editor: { kind: 'longText' } },
  'set.values': { editor: { kind: 'celValues' } },
  'http_request.method': { editor: { kind: 'choice', options: METHODS }, isCommon: true },
  'http_request.headers': { isCommon: true },
  'http_request.body': {
    isCommon: true,
    help: 'What to send: a text as it is, any other value as JSON, or as a form if Content type says so.',
  },
  'send_email.to': {
    help: 'Who gets it: an address, or several with commas between. A reference gives exactly one, unless Multiple recipients is on.',
  },
  'download_file.fileId': { isCommon: true },
  'read_rows.where': { isCommon: true },
  'update_row.row': { isCommon: true },
  'update_row.keyColumn': { isCommon: true },
  'update_row.key': { isCommon: true },
};

function hintOf(path: string): Hint | undefined {
  return HINTS[path];
}

export const HINTED: readonly string[] = Object.keys(HINTS);
