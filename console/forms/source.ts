/**
 * What an expression of a node may name: the nodes before it, with what they produced last or, before the first run, with the test data
 * of the trigger and the shapes that nodes of their kind produce. Reads own properties only, as the evaluation does.
 */
import { printStep, type NodeMember, type PathStep } from '../../api/expression/reference.ts';
import type { NodeOutput } from '../../api/expression/scope.ts';
import type { NodeKind, WorkflowNode } from '../../api/workflow.ts';

/** The data of a drag that names a value, such as `$('trigger').data_content.name`. */
export const REFERENCE_TYPE = 'application/x-windlass-reference';

export type Source = {
  id: string;
  label: string;
  kind: NodeKind;
  output: Partial<NodeOutput>;
  /** True: it produced this last, or a test run would have it. False: the output only shows which members there will be. */
  isReal: boolean;
  members: NodeMember[];
};

/** What the elements of `forEach` are; left out where the step has no forEach. */
export type Element = { item: unknown; isReal: boolean };

export type Sources = { nodes: Source[]; element?: Element };

const FILE = { id: '', name: '', mime_type: '', size: 0, modified_time: '', folder_id: '', url: '' };

/** What `data_content` of each kind has in it; undefined: anything. */
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
  agent: {
    model: '',
    finish_reason: '',
    usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0 },
    tool_calls: [],
    json: {},
  },
};

const ERROR_SHAPE = { reason: '', message: '' };

/** The source that a node is, with its last output where there is one. */
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
  };
}

/** What a test run would begin with. Test data hold no headers, which a webhook may admit: of those nothing is known then. */
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
    data_content: testDataOf(node, kind) ?? SHAPES[kind],
    error: ERROR_SHAPE,
    headers,
  };
}

/** Test data show the members also where they are not all that there will be. */
function testDataOf(node: WorkflowNode, kind: NodeKind): unknown {
  const fields: unknown = node[kind];
  if (!isRecord(fields)) return undefined;
  const { testData } = fields;
  return kind === 'manual' || !isRecord(testData) ? testData : testData['data_content'];
}

/** A member of an object or an element of a list: how it is written behind its owner, and what it is. */
export type Child = { step: PathStep; written: string; value: unknown };

/** Lists show so many of their elements; the others look the same as a rule. */
const ELEMENTS = 5;

/** What can be read out of a value. */
export function childrenOf(value: unknown): Child[] {
  if (Array.isArray(value))
    return value.slice(0, ELEMENTS).map((element: unknown, index) => childOf(index, element));
  return isRecord(value) ? Object.entries(value).map(([key, member]) => childOf(key, member)) : [];
}

function childOf(step: PathStep, value: unknown): Child {
  return { step, written: printStep(step), value };
}

/** A value in a few words: `text`, `number`, `list of 3`, `object`. */
export function typeLabel(value: unknown): string {
  if (value === null) return 'null';
  if (value === undefined) return 'any';
  if (Array.isArray(value)) return `list of ${value.length}`;
  if (typeof value === 'object') return 'object';
  return typeof value === 'string' ? 'text' : typeof value;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
