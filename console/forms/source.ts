/**
 * The sources of an expression: the nodes before it, with their last outputs or, before the first run, with
 * test data and example shapes. Reads own properties only, as the evaluation does.
 */
import { printStep, type NodeMember, type PathStep } from '../../api/expression/reference.ts';
import type { NodeOutput } from '../../api/expression/scope.ts';
import type { NodeKind, WorkflowNode } from '../../api/workflow.ts';
import { isRecord } from '../../api/record.ts';

/** The drag data type of a reference, such as `$('trigger').data_content.name`. */
export const REFERENCE_TYPE = 'application/x-windlass-reference';

export type Source = {
  id: string;
  label: string;
  kind: NodeKind;
  output: Partial<NodeOutput>;
  /** True: the output of a run or of test data. False: an example that only shows the members. */
  isReal: boolean;
  members: NodeMember[];
  /** Runs do not execute it, so that it has no output. */
  isDisabled?: true;
  /** Its output is that of all items. */
  isForEach?: true;
};

type MemberHelp = Record<NodeMember, string>;

const HELP: MemberHelp = {
  text_content: 'text output',
  data_content: 'data output',
  error: 'error',
  headers: 'request headers',
  item: 'item of the loop',
  index: 'index of the item, from 0',
};

/** What the members of the output of a kind are, where their names do not tell. */
const HELP_BY_KIND: Partial<Record<NodeKind, Partial<MemberHelp>>> = {
  webhook: { data_content: 'the JSON body of the request', text_content: 'empty' },
  manual: { data_content: 'the JSON body of the call, or the test data', text_content: 'empty' },
  schedule: { text_content: 'the scheduled time' },
  mail: { text_content: 'the text of the email', data_content: 'sender, subject, attachments' },
  spreadsheet: { text_content: 'a sentence about the rows', data_content: 'the changed rows' },
  fileStorage: { text_content: 'the name of the file', data_content: 'the file and what happened to it' },
  bot: { text_content: 'the text of the message', data_content: 'chat and sender' },
  chat: { text_content: 'the message', data_content: 'session and message' },
  agent: {
    text_content: 'the answer of the model',
    data_content: 'what it used, and the answer as JSON if it has a schema',
  },
  skill: { text_content: 'the result as text, or a sentence about it', data_content: 'the result' },
  code: { text_content: 'the returned value, if it is text', data_content: 'the returned value' },
};

/** What they are of a node with For each, after it. */
const HELP_OF_LOOP: Partial<MemberHelp> = {
  text_content: 'how many items succeeded',
  data_content: 'the results of the items, a list',
};

/** What a member of the output of such a node is. */
export function memberHelp(
  { kind, isForEach }: Pick<Source, 'kind' | 'isForEach'>,
  member: NodeMember,
): string {
  const own = isForEach ? HELP_OF_LOOP : HELP_BY_KIND[kind];
  return own?.[member] ?? HELP[member];
}

/** Whether the source can have an output: disabled nodes have none. */
export function isExecuted({ isDisabled }: Source): boolean {
  return isDisabled !== true;
}

/** An item of the innermost loop (`forEach`), and how many that loop has. */
export type Element = { item: unknown; index: number; isReal: boolean; loop: string; count?: number };

/** What the expressions of a field may refer to. */
export type Sources = {
  nodes: Source[];
  /** The IDs of all nodes of the workflow, also of those that `nodes` lacks. Undefined: not known. */
  allIds?: readonly string[];
  element?: Element;
  /** The node before, if there is exactly one. */
  previous?: Source;
  /** The nodes that wait for a callback whose URL the field may name. */
  callbacks?: string[];
  /** The value of the field must be a list. */
  isList?: true;
};

const FILE = { id: '', name: '', mime_type: '', size: 0, modified_time: '', folder_id: '', url: '' };

/** An example of `data_content` by kind; undefined: anything. */
const SHAPES: Partial<Record<NodeKind, unknown>> = {
  schedule: { scheduled_time: '', fired_time: '', time_zone: '' },
  mail: {
    from: '',
    subject: '',
    date: '',
    to: [''],
    message_id: '',
    html: '',
    attachments: [{ filename: '', content_type: '', size: 0 }],
  },
  spreadsheet: { spreadsheet_id: '', changes: [{ sheet: '', row: 0, event: '', values: {}, previous: {} }] },
  fileStorage: { event: '', file: FILE },
  bot: { chat_id: '', from: {}, message_type: '' },
  chat: { session: '', message: '', id: '' },
  agent: {
    model: '',
    finish_reason: '',
    usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0 },
    tool_calls: [],
  },
};

const ERROR_SHAPE = { reason: '', message: '' };

/** The source for a node, with its last output if there is one. */
export function sourceOf(
  node: WorkflowNode,
  kind: NodeKind,
  last: Partial<NodeOutput> | undefined,
  letsFailurePass: boolean,
): Source {
  const members: NodeMember[] = ['text_content', 'data_content'];
  if (letsFailurePass) members.push('error');
  if (kind === 'webhook' && (node.webhook?.headers?.length ?? 0) > 0) members.push('headers');
  const known = last ?? testOutputOf(node, kind);
  const label = node.displayName === undefined || node.displayName === '' ? node.id : node.displayName;
  return {
    id: node.id,
    label,
    kind,
    output: known ?? shapeOf(node, kind),
    isReal: known !== undefined,
    members,
    ...(node.forEach !== undefined && { isForEach: true }),
  };
}

/** The input of a test run. Test data has no headers, so those of a webhook are unknown. */
function testOutputOf(node: WorkflowNode, kind: NodeKind): Partial<NodeOutput> | undefined {
  const fields: unknown = node[kind];
  const testData = isRecord(fields) ? fields['testData'] : undefined;
  if (!isRecord(testData) || (node.webhook?.headers?.length ?? 0) > 0) return undefined;
  return { text_content: '', ...(kind === 'manual' ? { data_content: testData } : testData) };
}

function shapeOf(node: WorkflowNode, kind: NodeKind): Partial<NodeOutput> {
  const headers = Object.fromEntries((node.webhook?.headers ?? []).map((name) => [name.toLowerCase(), '']));
  return {
    text_content: '',
    data_content: testDataOf(node, kind) ?? answerOf(node) ?? SHAPES[kind],
    error: ERROR_SHAPE,
    headers,
  };
}

/** The output of an agent whose answer has a schema. */
function answerOf({ agent }: WorkflowNode): unknown {
  const schema: unknown = agent?.outputSchema;
  return isRecord(schema) ? { ...(SHAPES.agent as object), json: exampleOf(schema) } : undefined;
}

/** Schemas of answers are rarely deeper. */
const DEEPEST_SCHEMA = 6;

/** A value of the type that a JSON Schema describes, with all members that it names. */
function exampleOf(schema: unknown, depth = 0): unknown {
  if (!isRecord(schema) || depth > DEEPEST_SCHEMA) return {};
  const { type, properties, items } = schema;
  if (isRecord(properties))
    return Object.fromEntries(
      Object.entries(properties).map(([name, member]) => [name, exampleOf(member, depth + 1)]),
    );
  if (type === 'array') return [exampleOf(items, depth + 1)];
  if (type === 'number' || type === 'integer') return 0;
  if (type === 'boolean') return false;
  return type === 'string' ? '' : {};
}

/** Test data shows the members, even if it does not contain all of them. */
function testDataOf(node: WorkflowNode, kind: NodeKind): unknown {
  const fields: unknown = node[kind];
  if (!isRecord(fields)) return undefined;
  const { testData } = fields;
  return kind === 'manual' || !isRecord(testData) ? testData : testData['data_content'];
}

/** A member of an object or an element of a list: its path step, its notation and its value. */
export type Child = { step: PathStep; written: string; value: unknown };

/** Lists show only the first elements; others usually have the same shape. */
const ELEMENTS = 5;

/** The members of a value. */
export function childrenOf(value: unknown): Child[] {
  if (Array.isArray(value))
    return value.slice(0, ELEMENTS).map((element: unknown, index) => childOf(index, element));
  return isRecord(value) ? Object.entries(value).map(([key, member]) => childOf(key, member)) : [];
}

function childOf(step: PathStep, value: unknown): Child {
  return { step, written: printStep(step), value };
}

/** The type of a value: `text`, `number`, `list of 3`, `object`. */
export function typeLabel(value: unknown): string {
  if (value === null) return 'null';
  if (value === undefined) return 'any';
  if (Array.isArray(value)) return `list of ${value.length}`;
  if (typeof value === 'object') return 'object';
  return typeof value === 'string' ? 'text' : typeof value;
}
