/** Converts nodes that ask a language model: an agent, in a loop where there are several items. */
import type { WorkflowNode } from '../../../api/workflow.ts';
import { loopOf, planValues } from '../steps/call.ts';
import { type Json, memberOf, numberOf, objectOf, textOf } from '../model/json.ts';
import type { Draft, Items } from '../steps/items.ts';
import { type N8nNode, shortType } from '../model/n8n.ts';
import type { PathStep } from '../expressions/expression.ts';
import { type NodeContext, optionsOf } from '../steps/context.ts';
import { type Value, printPath, valueOf } from '../expressions/value.ts';

export type Question = {
  prompt: Value;
  systemPrompt?: Value | undefined;
  schema?: Json | undefined;
  memory?: { key: Value; turns: number; name?: string | undefined } | undefined;
  tools?: NonNullable<WorkflowNode['agent']>['tools'];
  maxSteps?: number | undefined;
  model: Model;
  /** The member of the item that has the answer. */
  answer: readonly PathStep[];
};

export type Model = {
  credential: string;
  model: string;
  temperature?: number | undefined;
  maxTokens?: number | undefined;
  /** Members of the request in the provider's own API. */
  options?: Json;
};

const MODELS: Record<string, { type: string; usual: string }> = {
  lmChatOpenAi: { type: 'openAiApi', usual: 'gpt-4o-mini' },
  lmOpenAi: { type: 'openAiApi', usual: 'gpt-4o-mini' },
  lmChatAnthropic: { type: 'anthropicApi', usual: 'claude-sonnet-4-5' },
  lmChatGoogleGemini: { type: 'googlePalmApi', usual: 'gemini-2.5-flash' },
  lmChatOllama: { type: 'ollamaApi', usual: 'llama3.2' },
  lmOllama: { type: 'ollamaApi', usual: 'llama3.2' },
  lmChatGroq: { type: 'groqApi', usual: 'llama-3.3-70b-versatile' },
  lmChatMistralCloud: { type: 'mistralCloudApi', usual: 'mistral-small-latest' },
  lmChatOpenRouter: { type: 'openRouterApi', usual: 'openai/gpt-4o-mini' },
  lmChatDeepSeek: { type: 'deepSeekApi', usual: 'deepseek-chat' },
  lmChatXAiGrok: { type: 'xAiApi', usual: 'grok-3' },
  lmChatAzureOpenAi: { type: 'azureOpenAiApi', usual: 'gpt-4o-mini' },
  lmChatCohere: { type: 'cohereApi', usual: 'command-r-plus' },
  lmOpenHuggingFaceInference: { type: 'huggingFaceApi', usual: 'mistralai/Mistral-7B-Instruct-v0.3' },
};

/** Options of models that the APIs of providers have under another name. */
const IN_API: Record<string, string> = {
  topP: 'top_p',
  frequencyPenalty: 'frequency_penalty',
  presencePenalty: 'presence_penalty',
};

/** Options of models that have a counterpart, or change no answer. */
const OPTIONS = new Set([
  'temperature',
  'maxTokens',
  'maxOutputTokens',
  'maxTokensToSample',
  'model',
  'timeout',
  'maxRetries',
  'responseFormat',
  ...Object.keys(IN_API),
]);

/** Whether the sub-node is a model that has a counterpart. */
const isModel = (type: string): boolean => Object.hasOwn(MODELS, shortType(type));

/** The model of the node's sub-node. */
export function modelOf(context: NodeContext): Model {
  const [first] = context.children('ai_languageModel');
  if (!first || !isModel(first.type)) {
    context.note(
      'review',
      first
        ? `its model (${shortType(first.type)}) has no counterpart: choose another one`
        : 'it has no model: choose one',
    );
    return { credential: context.credential(['model:openAiApi'], undefined, first), model: 'gpt-4o-mini' };
  }
  return modelOfNode(context, first);
}

function modelOfNode(context: NodeContext, node: N8nNode): Model {
  const { type, usual } = MODELS[shortType(node.type)] ?? { type: 'openAiApi', usual: 'gpt-4o-mini' };
  const { parameters } = node;
  const raw =
    memberOf(parameters, 'model.value') ??
    parameters['model'] ??
    parameters['modelName'] ??
    memberOf(parameters, 'options.model');
  const given = textOf(raw).replace(/^models\//, '');
  const left = Object.entries(objectOf(memberOf(parameters, 'options')))
    .filter(([name, value]) => !OPTIONS.has(name) && value !== '' && value !== false)
    .map(([name]) => `options.${name}`);
  if (left.length > 0)
    context.note('review', `it is without ${left.join(', ')}, which have no counterpart`, node);
  const isExpression = given.startsWith('=') || given.includes('{{');
  if (isExpression) context.note('review', `its model is an expression: ${usual} is set`, node);
  return {
    credential: context.credential([`model:${type}`], undefined, node),
    model: isExpression || given === '' ? usual : given.slice(0, 256),
    ...settingsOf(memberOf(parameters, 'options')),
  };
}

/** Temperature and limit of tokens within the bounds of the schema. */
export function settingsOf(options: unknown): Pick<Model, 'temperature' | 'maxTokens' | 'options'> {
  const given = Object.entries(IN_API).flatMap(([name, own]): [string, unknown][] => {
    const value = numberOf(memberOf(options, name));
    return value === undefined ? [] : [[own, value]];
  });
  const isJson = memberOf(options, 'responseFormat') === 'json_object';
  const more = Object.fromEntries([
    ...given,
    ...(isJson ? [['response_format', { type: 'json_object' }] as const] : []),
  ]);
  const temperature = numberOf(memberOf(options, 'temperature'));
  const maxTokens = numberOf(
    memberOf(options, 'maxTokens') ??
      memberOf(options, 'maxOutputTokens') ??
      memberOf(options, 'maxTokensToSample'),
  );
  return {
    ...(Object.keys(more).length > 0 && { options: more }),
    ...(temperature !== undefined && temperature >= 0 && temperature <= 2 && { temperature }),
    ...(maxTokens !== undefined &&
      maxTokens >= 1 &&
      maxTokens <= 1_000_000 && { maxTokens: Math.round(maxTokens) }),
  };
}

/** Members of the request in the provider's API. With a schema the agent asks for JSON itself. */
function apiOptions({ model, schema }: Question): Json | undefined {
  const { response_format: format, ...own } = model.options ?? {};
  const options = { ...own, ...(format !== undefined && !schema && { response_format: format }) };
  return Object.keys(options).length > 0 ? options : undefined;
}

/** An agent, or a group with one that is executed for each item. */
export function convertQuestion(context: NodeContext, question: Question): Draft {
  const { id } = context;
  const { prompt, systemPrompt, memory, model, tools, schema, maxSteps } = question;
  const plan = planValues(context, id, { prompt, systemPrompt, memoryKey: memory?.key });
  const { prompt: asked, systemPrompt: system, memoryKey } = plan.values;
  const agent: NonNullable<WorkflowNode['agent']> = {
    ...model,
    options: apiOptions(question),
    ...(textOf(system) !== '' && { systemPrompt: textOf(system).slice(0, 65_536) }),
    prompt: textOf(asked).slice(0, 65_536) || '-',
    ...(schema && { outputSchema: schema }),
    ...(tools && tools.length > 0 && { tools }),
    ...(maxSteps !== undefined && { maxSteps }),
    ...(memory && {
      memory: {
        key: textOf(memoryKey) || 'default',
        window: { turns: memory.turns },
        ...(memory.name !== undefined && { name: memory.name }),
      },
    }),
  };
  if (plan.forEach === undefined) {
    const node: WorkflowNode = { id, agent, ...optionsOf(context, false) };
    return {
      nodes: [...plan.before, node],
      edges: plan.edges,
      entry: plan.entry,
      outputs: single(context, question),
    };
  }
  const inner = context.newId('agent');
  const answer = context.newId('answer');
  const { retry, onError } = optionsOf(context, true);
  const nodes: WorkflowNode[] = [
    ...plan.before,
    { id, group: {}, ...loopOf(plan), ...(onError && { onError }) },
    { id: inner, within: id, agent, ...(retry && { retry }) },
    { id: answer, within: id, code: { source: `return ${itemCode(inner, question)};` } },
  ];
  return {
    nodes,
    edges: [...plan.edges, { from: inner, to: answer }],
    entry: plan.entry,
    outputs: loopOutputs(context),
  };
}

/** JavaScript for the item with the answer. */
function itemCode(id: string, { answer, schema }: Question): string {
  const value = schema ? `nodes.${id}.data_content.json` : `nodes.${id}.text_content`;
  return answer.reduceRight<string>((inner, step) => `{ ${JSON.stringify(step)}: ${inner} }`, value);
}

function single(context: NodeContext, question: Question): Items[] {
  const { id, node } = context;
  const { answer, schema } = question;
  const item = itemCode(id, question);
  const refer = (path: readonly PathStep[]): string | undefined => {
    if (answer.some((step, at) => path[at] !== step)) return undefined;
    const rest = path.slice(answer.length);
    if (schema) return printPath(`$('${id}').data_content.json`, rest);
    return rest.length === 0 ? `$('${id}').text_content` : undefined;
  };
  if (node.onError === 'regular')
    return [
      {
        node: id,
        list: `(nodes.${id}?.error ? [{ error: nodes.${id}.error.message }] : nodes.${id} ? [${item}] : [])`,
        lineage: '',
      },
    ];
  const regular: Items = { node: id, list: `(nodes.${id} ? [${item}] : [])`, single: refer, lineage: '' };
  const error: Items = {
    node: id,
    list: `(nodes.${id}?.error ? [{ error: nodes.${id}.error.message }] : [])`,
    after: 'Failure',
    lineage: '',
  };
  return node.onError === 'error' ? [regular, error] : [regular];
}

function loopOutputs({ id, node, input }: NodeContext): Items[] {
  const all = `(nodes.${id}?.data_content ?? [])`;
  const result = `nodes.${id}.data_content`;
  if (node.onError === 'stop')
    return [{ node: id, list: all, array: `$('${id}').data_content`, lineage: input.lineage }];
  if (node.onError === 'regular')
    return [
      {
        node: id,
        list: `${all}.map((r) => (r?.error?.reason ? { error: r.error.message } : r))`,
        lineage: input.lineage,
      },
    ];
  return [
    {
      node: id,
      list: `${all}.filter((r) => !r?.error?.reason)`,
      when: `${result}.exists(r, !has(r.error))`,
      lineage: id,
    },
    {
      node: id,
      list: `${all}.filter((r) => r?.error?.reason).map((r) => ({ error: r.error.message }))`,
      when: `${result}.exists(r, has(r.error))`,
      lineage: id,
    },
  ];
}

const WINDOW = 5;

/** The memory of the node's sub-node. */
export function memoryOf(context: NodeContext): Question['memory'] {
  const [node] = context.children('ai_memory');
  if (!node) return undefined;
  const { parameters } = node;
  if (!shortType(node.type).startsWith('memoryBufferWindow'))
    context.note(
      'review',
      'the conversations are in the run store, and those of before are not imported',
      node,
    );
  const isCustom =
    parameters['sessionIdType'] === 'customKey' ||
    (parameters['sessionIdType'] === undefined && parameters['sessionKey'] !== undefined);
  const key = isCustom ? valueOf(parameters['sessionKey'] ?? '') : valueOf('={{ $json.sessionId }}');
  const turns = numberOf(parameters['contextWindowLength'] ?? parameters['contextWindow']) ?? WINDOW;
  return { key, turns: Math.min(Math.max(Math.round(turns), 1), 200) };
}
