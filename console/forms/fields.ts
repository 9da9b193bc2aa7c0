/**
 * The fields of a form, derived from the JSON Schemas that the CRDs come from. Pure. Required fields come
 * first, then those that most users fill in. A schema without a fitting editor is an error, which a test over
 * all schemas finds.
 */
import { ACCEPTED_CREDENTIALS } from '../../api/credentialKinds.ts';
import type { DurationBounds } from '../../api/duration.ts';
import type { FieldSchema } from './schemas.ts';
import { choiceLabel, labelOf } from './labels.ts';

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
  /** The schema refuses an empty text, which counts as none where one is required. */
  refusesEmpty?: true;
  /** Optional, and shown without "More fields", as most users fill it in. */
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
  const siblings = Object.keys(schema.properties ?? {});
  const fields = Object.entries(schema.properties ?? {})
    .filter(([name]) => !without.includes(name))
    .map(([name, property]) =>
      fieldOf(name, property, {
        path: `${path}.${name}`,
        isRequired: required.includes(name),
        isExpression,
        siblings,
      }),
    );
  const rank = ({ isRequired, isCommon }: Field) => (isRequired ? 0 : isCommon ? 1 : 2);
  return fields.toSorted((one, other) => rank(one) - rank(other));
}

type Place = {
  path: string;
  isRequired: boolean;
  isExpression: boolean;
  /** The names of the fields beside it, and its own. */
  siblings: readonly string[];
};

function fieldOf(name: string, schema: FieldSchema, place: Place): Field {
  const { path, isRequired, isExpression } = place;
  const hint = hintOf(path);
  const holdsReferences =
    isExpression || hint?.isExpression === true || MAY_REFER.test(schema.description ?? '');
  const help = helpOf(schema, place);
  const placeholder = placeholderOf(schema, help);
  return {
    name,
    label: labelAt(path, name),
    isRequired,
    isExpression: holdsReferences,
    editor: hint?.editor ?? editorOf(schema, path, holdsReferences),
    ...(refusesEmpty(schema) && { refusesEmpty: true }),
    ...(hint?.isCommon && { isCommon: true }),
    ...(help !== undefined && { help }),
    ...(placeholder !== undefined && { placeholder }),
  };
}

function refusesEmpty({ type, minLength = 0, pattern }: FieldSchema): boolean {
  return type === 'string' && (minLength > 0 || (pattern !== undefined && !new RegExp(pattern).test('')));
}

/** The label of the field `name` at the path of a schema, such as `http_request.response`. */
export function labelAt(path: string, name: string): string {
  return hintOf(path)?.label ?? labelOf(name);
}

/** A description in the words of a form. A switch shows its default. */
function helpOf({ type, description, enum: values = [] }: FieldSchema, place: Place): string | undefined {
  const help = hintOf(place.path)?.help ?? description;
  if (help === undefined) return undefined;
  const text = withLabels(helpText(help), values, place);
  return type === 'boolean' ? text.replace(/ Default: (?:true|false)\.$/, '') : text;
}

/**
 * A field that is left out is empty, and objects of the cluster have no part in a form. The console says node
 * for a step, and connection for an edge.
 */
function helpText(description: string): string {
  return description
    .replaceAll(/\bstep(s?)\b/g, 'node$1')
    .replaceAll(/\bedge(s?)\b/g, 'connection$1')
    .replaceAll('Left out:', 'If empty:')
    .replaceAll(PLAIN_DEFAULT, 'Default: ')
    .replaceAll(', in the same namespace', '')
    .replaceAll('the ProjectSettings of the namespace', 'the settings of the project');
}

/** Names of other fields, and values of its own, as the form shows them: `Max tokens` for `maxTokens`. */
function withLabels(text: string, values: readonly unknown[], { path, siblings }: Place): string {
  const around = path.slice(0, path.lastIndexOf('.'));
  const labels = new Map([
    ...siblings.map((name) => [name, labelAt(`${around}.${name}`, name)] as const),
    ...values.map((value) => [String(value), choiceLabel(String(value))] as const),
  ]);
  return text.replaceAll(COMPOUND, (word) => labels.get(word) ?? word);
}

/** A word of several, such as `maxTokens` or `RunLatest`. Others may be words of the sentence. */
const COMPOUND = /(?<![.\w])[A-Za-z][a-z]+(?:[A-Z][A-Za-z]*)+(?!\w)/g;

/** The words with which a description says so. */
const MAY_REFER = /\bmay contain references\b/i;
const DEFAULT = /\bDefault:? (https?:\/\/[^\s;,]*[^\s;,.]|[^.;,]+(?:\.\d+)?)/;
/** A default without the colon that others have; not one that depends on where the field is. */
const PLAIN_DEFAULT = /(?<=\. )Default (?!in )/g;

/** The default, from the schema or the help. */
function placeholderOf({ default: given }: FieldSchema, help = ''): string | undefined {
  if (typeof given === 'string' || typeof given === 'number') return String(given);
  return DEFAULT.exec(help)?.[1];
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
  const isOnByDefault = schema.default === true || placeholderOf(schema, schema.description) === 'true';
  return { kind: 'boolean', isOnByDefault };
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

/** One wording for triggers, agents, skills and tools. */
const ACCOUNT = 'The account to use.';
const account = (kinds: readonly string[]): Hint => ({
  editor: { kind: 'credential', kinds },
  help: ACCOUNT,
});

const HEADINGS: Hint = { label: 'Header row' };
const SHEET: Hint = { isCommon: true };
const REPEATED: Hint = {
  help: 'What happens if the runner that executes the node stops before its end. AtLeastOnce: the node is repeated, so that it may act twice; AtMostOnce: it is not repeated, and the run fails: decide on its page whether the node has acted. If empty: what suits the node.',
};

const HINTS: Record<string, Hint> = {
  'schedule.cron': { editor: { kind: 'cron' } },
  'schedule.timeZone': { editor: { kind: 'timeZone' }, isCommon: true },
  'schedule.missed': {
    help: 'What happens with times that passed while no run could start. Skip: the latest one still starts a run, unless it is older than the deadline; RunLatest: the latest one starts a run, however old it is. Default: Skip.',
  },
  'schedule.startingDeadlineSeconds': {
    help: 'How many seconds after its time a run may still start. Default: 300; with Run latest: no limit.',
  },
  'webhook.path': { help: 'The last part of the URL.' },
  'webhook.auth': {
    isCommon: true,
    help: 'How callers prove who they are. If empty: the webhook is public, and anybody who knows the URL may call. The project can require that it is set.',
  },
  'webhook.dedupe': {
    help: 'How to detect that two requests are the same event. The IDs of Standard Webhooks and GitHub, and the header Idempotency-Key, take precedence.',
  },
  'webhook.dedupe.header': {
    help: 'The request header with the ID of the event. Requests with the same ID start one run.',
  },
  'webhook.rateLimit': {
    help: 'How many requests are accepted. Those beyond it get the status 429. If empty: the limit of the installation.',
  },
  'webhook.auth.none': { label: 'Public (no authentication)' },
  'chat.welcome': { editor: { kind: 'longText' } },
  'chat.access': {
    help: 'Who may send messages. Token: whoever has one of the tokens below, which the page asks for once; Public: anybody who knows the URL. Default: Token.',
  },
  'chat.tokenRefs': { help: 'Any of the tokens is accepted, so that they can be rotated.' },
  'mail.credential': account(ACCEPTED_CREDENTIALS.mail),
  'spreadsheet.credential': account(ACCEPTED_CREDENTIALS.spreadsheet),
  'spreadsheet.sheet': SHEET,
  'spreadsheet.header': HEADINGS,
  'spreadsheet.perRow': { isCommon: true },
  'fileStorage.credential': account(ACCEPTED_CREDENTIALS.fileStorage),
  'fileStorage.folderId': { isCommon: true },
  'bot.credential': account(ACCEPTED_CREDENTIALS.bot),
  'agent.credential': {
    ...account(ACCEPTED_CREDENTIALS.agent),
    help: 'The account to use at the provider of the model.',
  },
  'agent.fallback': {
    help: 'Other models to ask, in this order, if the one above has a temporary error before its first answer.',
  },
  'agent.fallback[].credential': account(ACCEPTED_CREDENTIALS.agent),
  'agent.model': { editor: { kind: 'model' }, isExpression: true },
  'agent.systemPrompt': { isExpression: true, isCommon: true },
  'agent.prompt': { isExpression: true },
  'agent.images': { isExpression: true },
  'agent.options': { label: 'Provider options' },
  'agent.outputSchema': {
    help: 'A JSON Schema for the answer, which is then data_content.json. An answer that does not match it is sent back to the model once; after that the node fails.',
  },
  'wait.callback': {
    help: 'The node waits until somebody calls its URL. The JSON body of the call is data_content.',
  },
  'workflow.name': {
    editor: { kind: 'workflow' },
    label: 'Workflow',
    help: 'The workflow to run. It may be inactive.',
  },
  'workflow.input': {
    help: 'What the other workflow gets: the data_content of its trigger. Any JSON value; texts in it may contain references. Default: {}.',
  },
  'workflow.wait': {
    label: 'Wait for its result',
    help: 'On: this node ends with the other run, and has its output. Off: the run goes on at once, with the name of the other run as output.',
  },
  'agent.tools': { editor: { kind: 'tools' }, isCommon: true },
  'agent.tools[].credential': { help: ACCOUNT },
  'agent.tools[].effect': REPEATED,
  'skill.name': { editor: { kind: 'skill' }, label: 'Skill', help: 'What the node does.' },
  'skill.credential': { help: ACCOUNT },
  'response.status': { isCommon: true },
  'response.headers': {
    isExpression: true,
    help: 'HTTP headers. Values may contain references. Headers that concern the connection (such as Content-Length), the whole host (such as Set-Cookie) or proxies are refused.',
  },
  'response.body': { isExpression: true, isCommon: true },
  'code.source': { editor: { kind: 'javaScript' }, label: 'JavaScript' },
  'options.effect': REPEATED,
  'options.forEach.items': { isExpression: true, help: 'A reference to a list.' },
  'options.repeat.delay': { isCommon: true },
  'options.onError': {
    help: 'What happens when this node fails. Fail: the run fails, unless a connection from this node runs when it fails; Continue: the run goes on, and .error of this node says why. Default: Fail.',
  },
  'options.repeat.until': {
    editor: { kind: 'celCondition' },
    help: 'The node is executed again until this holds. `nodes.<own ID>` is the output of the last execution.',
  },
  'options.repeat.limit': { label: 'At most (executions)' },
  'settings.description': { editor: { kind: 'longText' } },
  'settings.timeZone': {
    editor: { kind: 'timeZone' },
    help: 'The time zone of $run.localTime and $run.timeZone. A schedule has its own. Default: UTC.',
  },
  'settings.onFailure.workflow': {
    editor: { kind: 'workflow' },
    label: 'Error workflow',
    help: 'Starts once when a live run of this workflow fails, for example to send a message. It may be inactive, and its own failures start nothing. Default: none.',
  },
  'settings.concurrency.limit': { label: 'Concurrent runs' },
  'settings.concurrency.policy': {
    label: 'When the limit is reached',
    help: 'What happens with a new event. Queue: it waits; Reject: it is refused with HTTP status 429; Replace: the oldest run is cancelled for it. Default: Queue.',
  },
  'settings.recordData': {
    label: 'Save inputs and outputs',
    help: 'Of which runs the input and the outputs of nodes are saved: all, only failed ones, or none. Runs without them cannot be retried, or restored after a loss of the run store. Default: All.',
  },
  'settings.history.succeeded': { label: 'Succeeded runs to keep' },
  'settings.history.failed': { label: 'Failed runs to keep' },
  'settings.history.ttl': { label: 'Keep runs for' },
  'settings.history.dataTTL': {
    label: 'Keep inputs and outputs for',
    help: 'How long to keep the input and the outputs of a run after its end, at most as long as the run. From 0s to 3650d. Default: as long as the run, unless the settings of the project say otherwise.',
  },
  'settings.budget.run.tokens': {
    label: 'Tokens of a run',
    help: 'The most tokens, input and output together, that all agents of one run may use. Child runs have the budgets of their own workflow. Default: no limit.',
  },
  'settings.budget.run.cost': {
    label: 'Cost of a run',
    help: 'The same in money, in the currency of the price table, such as 0.50. A model without a price is then not asked. Default: no limit.',
  },
  'settings.budget.day.tokens': {
    label: 'Tokens of a day (UTC)',
    help: 'The most tokens that all live runs of the workflow may use in a day. All its test runs have the same budget once more. Default: no limit.',
  },
  'settings.budget.day.cost': {
    label: 'Cost of a day (UTC)',
    help: 'The same in money, such as 10.00. A model without a price is then not asked. Default: no limit.',
  },
  'set.values': {
    editor: { kind: 'celValues' },
    help: 'A name and an expression for each value, such as nodes.trigger.data_content.price * 2.0. Put text in quotes: "Hello". Expressions are written in CEL, a small language for computing values.',
  },
  'remove_duplicates.key': { isCommon: true },
  'http_request.method': { editor: { kind: 'choice', options: METHODS }, isCommon: true },
  'http_request.headers': { isCommon: true },
  'http_request.body': {
    isCommon: true,
    help: 'What to send: a text as it is, any other value as JSON, or as a form if Content type says so.',
  },
  'http_request.response': { label: 'Response format' },
  'http_request.expect': { label: 'Successful statuses' },
  'send_email.to': {
    help: 'Who gets it: one address, or several with commas between. A reference must be one address, unless Multiple recipients is on.',
  },
  'upload_file.folderId': { isCommon: true },
  'download_file.fileId': {
    help: "The ID of the file at Google Drive, or its key at S3. After a Files trigger: {{ $('trigger').data_content.file.id }}.",
  },
  'read_rows.sheet': SHEET,
  'read_rows.header': HEADINGS,
  'read_rows.where': { isCommon: true },
  'append_row.sheet': SHEET,
  'append_row.header': HEADINGS,
  'update_row.sheet': SHEET,
  'update_row.header': HEADINGS,
  'update_row.row': { isCommon: true },
  'update_row.keyColumn': { isCommon: true },
  'update_row.key': { isCommon: true },
  'credential.http.allowedHosts': {
    help: 'The hosts to which HTTP requests may send the secret, including the host of the test URL: api.example.com, api.example.com:8443, http://api.shop.svc:8080, *.example.com, or * for every host over https.',
  },
  'credential.http.query': { label: 'Query parameter' },
  'credential.oauth2.allowedHosts': {
    help: 'The hosts to which HTTP requests may send the access token, for example api.example.com. If empty: the APIs of Google or of Microsoft; with any other provider none.',
  },
};

function hintOf(path: string): Hint | undefined {
  return HINTS[path];
}

/** The label of a setting of a workflow, such as `history.ttl`. */
export function settingLabel(setting: string): string {
  return labelAt(`settings.${setting}`, setting.slice(setting.lastIndexOf('.') + 1));
}

export const HINTED: readonly string[] = Object.keys(HINTS);
