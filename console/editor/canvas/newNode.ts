/**
 * Initial values of new nodes: a telling ID, the only fitting credential, and the output of the node before.
 * Pure.
 */
import type { TriggerKind } from '../../../api/trigger.ts';
import type { WorkflowNode } from '../../../api/workflow.ts';
import { nodeKind } from '../../workflows/kinds.ts';
import { freeId, nodeOf, triggerOf, type Draft } from '../model/model.ts';

export type Choice =
  | { kind: 'agent' }
  | { kind: 'response' }
  | { kind: 'fail' }
  | { kind: 'code' }
  | { kind: 'skill'; name: string; credentials: readonly string[]; isOptional: boolean }
  | { kind: 'trigger'; trigger: TriggerKind; credentials: readonly string[] };

/** A credential of the project, as far as the choice needs it. */
export type Known = { name: string; kind: string; models?: readonly string[] };

/** A new node for a choice, to be placed after the node `after`. */
export function newNode(draft: Draft, choice: Choice, known: readonly Known[], after?: string): WorkflowNode {
  const id = (base: string) =>
    freeId(
      draft.spec.nodes.map((node) => node.id),
      base,
    );
  switch (choice.kind) {
    case 'agent':
      return { id: id('agent_1'), agent: newAgent(draft, known, after) };
    case 'response':
      return { id: id('reply'), response: { body: outputBefore(draft, after) ?? { ok: true } } };
    case 'fail':
      return { id: id('fail'), fail: { reason: 'Failed', message: 'The run has failed.' } };
    case 'code':
      return { id: id('code'), code: { source: sourceAfter(draft, after) } };
    case 'skill': {
      const credential = choice.isOptional ? undefined : onlyOne(known, choice.credentials)?.name;
      return {
        id: id(choice.name),
        skill: { name: choice.name, ...(credential !== undefined && { credential }), parameters: {} },
      };
    }
    case 'trigger':
      return {
        id: triggerOf(draft)?.id ?? id('trigger'),
        ...newTrigger(choice.trigger, onlyOne(known, choice.credentials)?.name ?? ''),
      };
  }
}

function newAgent(draft: Draft, known: readonly Known[], after?: string): NonNullable<WorkflowNode['agent']> {
  const others = draft.spec.nodes.flatMap(({ agent }) => (agent ? [agent] : []));
  const credential = others.at(-1)?.credential ?? onlyOne(known, ['openai'])?.name ?? '';
  const models = known.find(({ name }) => name === credential)?.models ?? [];
  return {
    credential,
    model: others.at(-1)?.model ?? models[0] ?? '',
    prompt: outputBefore(draft, after) ?? '',
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
  }
}

/** The credential that fits, if there is exactly one. */
function onlyOne(known: readonly Known[], kinds: readonly string[]): Known | undefined {
  const fitting = known.filter(({ kind }) => kinds.includes(kind));
  return fitting.length === 1 ? fitting[0] : undefined;
}

/** Nodes whose text output is the useful one. */
const TEXTS = new Set(['agent', 'mail', 'bot', 'schedule']);

function sourceAfter(draft: Draft, after: string | undefined): string {
  const node = after === undefined ? undefined : nodeOf(draft, after);
  if (node === undefined) return 'return null;\n';
  const member = TEXTS.has(nodeKind(node) ?? '') ? 'text_content' : 'data_content';
  return `const input = nodes.${node.id}.${member};\nreturn input;\n`;
}

function outputBefore(draft: Draft, after: string | undefined): string | undefined {
  const node = after === undefined ? undefined : nodeOf(draft, after);
  if (node === undefined) return undefined;
  const member = TEXTS.has(nodeKind(node) ?? '') ? 'text_content' : 'data_content';
  return `{{ $('${node.id}').${member} }}`;
}
