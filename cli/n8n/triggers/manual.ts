/** Triggers whose workflow is started on request: by a person, another workflow, or a failure. */
import type { WorkflowNode } from '../../../api/workflow.ts';
import { listOf, memberOf, objectOf, textOf } from '../model/json.ts';
import type { Draft } from '../steps/items.ts';
import type { PathStep } from '../expressions/expression.ts';
import type { NodeContext } from '../steps/context.ts';
import { type Field, draftOf } from './event.ts';

export const convertManual = (context: NodeContext): Draft => {
  const pinned = objectOf(memberOf(listOf(context.workflow.pins[context.node.name])[0], 'json'));
  const hasPin = Object.keys(pinned).length > 0 && JSON.stringify(pinned).length < 20_000;
  return draftOf(context, {
    trigger: { manual: hasPin ? { testData: pinned } : {} },
    list: `[nodes.${context.id}.data_content ?? {}]`,
    fields: [[[], '.data_content']],
  });
};

/** A sub-workflow gets one item, or several as `{items: […]}`. */
export function convertCalled(context: NodeContext): Draft {
  const { id } = context;
  const data = `nodes.${id}.data_content`;
  return draftOf(context, {
    trigger: { manual: inputSchema(context) },
    list: `(Array.isArray(${data}?.items) && Object.keys(${data}).length === 1 ? ${data}.items : [${data} ?? {}])`,
    isList: context.parameters['toolFields'] === undefined,
    fields: [[[], '.data_content']],
  });
}

function inputSchema({ parameters }: NodeContext): NonNullable<WorkflowNode['manual']> {
  const tool = parameters['toolFields'];
  const properties = tool === undefined ? declared(parameters) : objectOf(tool);
  if (Object.keys(properties).length === 0) return {};
  return {
    inputSchema: {
      type: 'object',
      properties,
      ...(tool !== undefined && { required: Object.keys(properties) }),
    },
  };
}

const TYPES = ['string', 'number', 'boolean', 'array', 'object'];

function declared(parameters: Record<string, unknown>): Record<string, unknown> {
  const fields = listOf(memberOf(parameters, 'workflowInputs.values')).map(objectOf);
  return Object.fromEntries(
    fields
      .filter(({ name }) => textOf(name) !== '')
      .map(({ name, type }) => [
        textOf(name),
        TYPES.includes(textOf(type, 'string')) ? { type: textOf(type, 'string') } : {},
      ]),
  );
}

export function convertErrorTrigger(context: NodeContext): Draft {
  const d = `nodes.${context.id}.data_content`;
  const node = (path: PathStep[], reference: string): Field => [path, `.data_content.${reference}`];
  return draftOf(context, {
    trigger: { manual: {} },
    list: `[{ execution: { id: ${d}.run, url: ${d}.url, error: { message: ${d}.message, name: ${d}.reason, stack: ${d}.message, node: { name: ${d}.node } }, lastNodeExecuted: ${d}.node, mode: 'trigger' }, workflow: { id: ${d}.workflow, name: ${d}.workflow } }]`,
    fields: [
      node(['workflow', 'name'], 'workflow'),
      node(['workflow', 'id'], 'workflow'),
      node(['execution', 'id'], 'run'),
      node(['execution', 'url'], 'url'),
      node(['execution', 'error', 'message'], 'message'),
      node(['execution', 'lastNodeExecuted'], 'node'),
    ],
  });
}

/** Triggers without a counterpart: the workflow can be started by hand. */
export function convertUnknownTrigger(context: NodeContext): Draft {
  context.note(
    'manual',
    'this trigger has no counterpart: start the workflow on request, by a webhook or on a schedule',
  );
  return convertManual(context);
}
