/**
 * Initial values of new nodes: a telling ID, the only fitting credential, and the output of the node before.
 * Pure.
 */
import { ACCEPTED_CREDENTIALS } from '../../../api/credentialKinds.ts';
import type { TriggerKind } from '../../../api/triggerKinds.ts';
import type { WorkflowNode } from '../../../api/workflow.ts';
import type { NodeOutput } from '../../../api/expression/scope.ts';
import { isRecord } from '../../../api/record.ts';
import { childrenOf, sourceOf } from '../../forms/source.ts';
import { NEW_CHAT } from '../../workflows/create.ts';
import { nodeKind } from '../../workflows/kinds.ts';
import { visibilityOfDraft } from '../model/scopes.ts';
import { freeId, nodeOf, triggerOf, type Draft } from '../model/model.ts';

const FLOW_KINDS = ['group', 'forEach', 'repeat', 'wait', 'workflow', 'fail'] as const;
type FlowKind = (typeof FLOW_KINDS)[number];

export type Choice =
  | { kind: 'agent' }
  | { kind: 'response' }
  | { kind: 'code' }
  | { kind: FlowKind }
  | { kind: 'skill'; name: string; credentials: readonly string[]; isOptional: boolean }
  | { kind: 'trigger'; trigger: TriggerKind; credentials: readonly string[] };

/** A credential of the project, as far as the choice needs it. */
export type Known = { name: string; kind: string; models?: readonly string[] };

/** Where a new node comes: after a node, or as the first one in a group. */
export type NewPlace = {
  after?: string | undefined;
  inside?: string | undefined;
  /** The last outputs of nodes. */
  outputs?: ReadonlyMap<string, Partial<NodeOutput>>;
};

/** A new node for a choice. */
export function newNode(
  draft: Draft,
  choice: Choice,
  known: readonly Known[],
  given: NewPlace,
): WorkflowNode {
  const place = { ...given, after: executedBefore(draft, given.after) };
  const id = (base: string) =>
    freeId(
      draft.spec.nodes.map((node) => node.id),
      base,
    );
  if (isFlow(choice))
    return newFlowNode(choice.kind, id, choice.kind === 'forEach' ? listBefore(draft, place) : '');
  switch (choice.kind) {
    case 'agent':
      return { id: id('agent_1'), agent: newAgent(draft, known, place) };
    case 'response':
      return { id: id('reply'), response: { body: replyBefore(draft, place) ?? { ok: true } } };
    case 'code':
      return { id: id('code'), code: { source: sourceAfter(draft, place) } };
    case 'skill':
      return { id: id(choice.name), skill: newSkill(choice, known) };
    case 'trigger':
      return {
        id: triggerOf(draft)?.id ?? id('trigger'),
        ...newTrigger(choice.trigger, onlyOne(known, choice.credentials)?.name ?? ''),
      };
  }
}

function isFlow(choice: Choice): choice is { kind: FlowKind } {
  return FLOW_KINDS.some((kind) => kind === choice.kind);
}

/** A node for the flow: a loop, a group, a wait, a child run or an end. */
function newFlowNode(kind: FlowKind, id: (base: string) => string, items: string): WorkflowNode {
  switch (kind) {
    case 'group':
      return { id: id('group'), group: {} };
    case 'forEach':
      return { id: id('for_each'), group: {}, forEach: { items } };
    case 'repeat':
      return { id: id('repeat_until'), group: {}, repeat: { until: '', limit: 10, delay: '10s' } };
    case 'wait':
      return { id: id('wait'), wait: { duration: '10m' } };
    case 'workflow':
      return { id: id('workflow'), workflow: { name: '' } };
    case 'fail':
      return { id: id('fail'), fail: { reason: 'Failed', message: 'The run has failed.' } };
  }
}

function newSkill(
  { name, credentials, isOptional }: Choice & { kind: 'skill' },
  known: readonly Known[],
): NonNullable<WorkflowNode['skill']> {
  const credential = isOptional ? undefined : onlyOne(known, credentials)?.name;
  return { name, ...(credential !== undefined && { credential }), parameters: {} };
}

function newAgent(
  draft: Draft,
  known: readonly Known[],
  place: NewPlace,
): NonNullable<WorkflowNode['agent']> {
  const others = draft.spec.nodes.flatMap(({ agent }) => (agent ? [agent] : []));
  const credential = others.at(-1)?.credential ?? onlyOne(known, ACCEPTED_CREDENTIALS.agent)?.name ?? '';
  const models = known.find(({ name }) => name === credential)?.models ?? [];
  return {
    credential,
    model: others.at(-1)?.model ?? models[0] ?? '',
    prompt: outputBefore(draft, place) ?? '',
  };
}

function newTrigger(kind: TriggerKind, credential: string): Omit<WorkflowNode, 'id'> {
  switch (kind) {
    case 'manual':
      return { manual: {} };
    case 'schedule':
      return { schedule: { cron: '0 9 * * *' } };
    case 'webhook':
      return { webhook: { path: 'events' } };
    case 'mail':
      return { mail: { credential } };
    case 'spreadsheet':
      return { spreadsheet: { credential, spreadsheetId: '' } };
    case 'fileStorage':
      return { fileStorage: { credential } };
    case 'bot':
      return { bot: { credential } };
    case 'chat':
      return { chat: NEW_CHAT };
  }
}

/** A disabled node has no output: the new one begins with that of the node before it. */
function executedBefore({ spec }: Draft, id: string | undefined): string | undefined {
  if (id === undefined || !spec.nodes.some((node) => node.id === id && node.disabled)) return id;
  return visibilityOfDraft(spec).previousOf(id);
}

/** The credential that fits, if there is exactly one. */
function onlyOne(known: readonly Known[], kinds: readonly string[]): Known | undefined {
  const fitting = known.filter(({ kind }) => kinds.includes(kind));
  return fitting.length === 1 ? fitting[0] : undefined;
}

/** Nodes whose text output is the useful one. */
const TEXTS = new Set(['agent', 'mail', 'bot', 'chat', 'schedule']);

function sourceAfter(draft: Draft, place: NewPlace): string {
  const input = inputOf(draft, place);
  return input === undefined ? 'return null;\n' : `const input = ${input.code};\nreturn input;\n`;
}

function outputBefore(draft: Draft, place: NewPlace): string | undefined {
  return inputOf(draft, place)?.template;
}

/** Of the response of an API, callers get the body: its status and headers are not for them. */
function replyBefore(draft: Draft, place: NewPlace): string | undefined {
  const node = place.after === undefined ? undefined : nodeOf(draft, place.after);
  const isOneRequest = node?.skill?.name === 'http_request' && !node.forEach && !node.repeat;
  return isOneRequest ? `{{ $('${node.id}').data_content.body }}` : outputBefore(draft, place);
}

/** The reference to the first list in the output of the node before; empty if there is none. */
function listBefore(draft: Draft, { after, outputs }: NewPlace): string {
  const node = after === undefined ? undefined : nodeOf(draft, after);
  const kind = node && nodeKind(node);
  if (node === undefined || kind === undefined) return '';
  const last = outputs?.get(node.id);
  const data =
    node.forEach && last === undefined ? [] : sourceOf(node, kind, last, false).output.data_content;
  const path = listIn(data);
  return path === undefined ? '' : `{{ $('${node.id}').data_content${path} }}`;
}

/** Deeper lists are rarely those that are meant. */
const DEEPEST = 3;

/** The path to the first list of objects, else to the first list. */
function listIn(data: unknown): string | undefined {
  const lists: { path: string; list: unknown[] }[] = [];
  let level = [{ path: '', value: data }];
  for (let depth = 0; depth <= DEEPEST; depth += 1) {
    for (const { path, value } of level) if (Array.isArray(value)) lists.push({ path, list: value });
    level = level.flatMap(({ path, value }) =>
      isRecord(value)
        ? childrenOf(value).map((child) => ({ path: `${path}${child.written}`, value: child.value }))
        : [],
    );
  }
  return (lists.find(({ list }) => list.some(isRecord)) ?? lists[0])?.path;
}

/** The value with which a node most likely begins. */
function inputOf(draft: Draft, { after, inside }: NewPlace): { template: string; code: string } | undefined {
  const group = inside === undefined ? undefined : nodeOf(draft, inside);
  if (group?.forEach) return { template: '{{ $item }}', code: 'item' };
  if (group?.repeat) return { template: '{{ $previous.data_content }}', code: 'previous.data_content' };
  const node = after === undefined ? undefined : nodeOf(draft, after);
  if (node === undefined) return undefined;
  const member = TEXTS.has(nodeKind(node) ?? '') ? 'text_content' : 'data_content';
  return { template: `{{ $('${node.id}').${member} }}`, code: `nodes.${node.id}.${member}` };
}
