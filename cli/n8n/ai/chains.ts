/** AI Agent, Basic LLM Chain, Information Extractor and Summarization Chain. */
import { convertQuestion, memoryOf, modelOf } from './question.ts';
import { listOf, memberOf, numberOf, objectOf, textOf } from '../model/json.ts';
import type { Draft } from '../steps/items.ts';
import { extractionSchema, parserSchema } from './schema.ts';
import type { NodeContext } from '../steps/context.ts';
import { toolsOf } from './tools.ts';
import { type Value, code, valueOf } from '../expressions/value.ts';
import { given, joinTexts } from './prompts.ts';

function promptOf({ node, parameters }: NodeContext, usual: string): Value {
  const type = textOf(parameters['promptType'], parameters['text'] === undefined ? 'auto' : 'define');
  if (type === 'define' || parameters['text'] !== undefined)
    return valueOf(textOf(parameters['text'], usual));
  return valueOf(node.version < 1.2 && node.type.endsWith('.agent') ? '={{ $json.input }}' : usual);
}

export function convertAgent(context: NodeContext): Draft {
  const { parameters } = context;
  if (textOf(parameters['agent']) === 'sqlAgent')
    context.note('review', 'an SQL agent has no counterpart: it has no access to the database');
  const steps = numberOf(memberOf(parameters, 'options.maxIterations'));
  return convertQuestion(context, {
    prompt: promptOf(context, '={{ $json.chatInput }}'),
    systemPrompt: joinTexts(given(memberOf(parameters, 'options.systemMessage'))),
    schema: parserSchema(context),
    memory: memoryOf(context),
    tools: toolsOf(context),
    model: modelOf(context),
    maxSteps: steps !== undefined && steps >= 1 ? Math.min(Math.round(steps), 100) : undefined,
    answer: ['output'],
  });
}

export function convertChain(context: NodeContext): Draft {
  const { parameters, node } = context;
  const messages = listOf(memberOf(parameters, 'messages.messageValues')).map(objectOf);
  const isSystem = ({ type }: Record<string, unknown>) =>
    textOf(type, 'SystemMessagePromptTemplate').startsWith('System');
  if (messages.some(({ messageType }) => textOf(messageType).startsWith('image')))
    context.note('review', 'images of the prompt are left out: set images of the agent');
  const others = messages.filter((message) => !isSystem(message)).flatMap(({ message }) => given(message));
  const schema = parserSchema(context);
  const prompt =
    node.version < 1.3 && parameters['prompt'] !== undefined
      ? valueOf(textOf(parameters['prompt']))
      : promptOf(context, '={{ $json.chatInput }}');
  return convertQuestion(context, {
    prompt: joinTexts([...others, prompt]) ?? prompt,
    systemPrompt: joinTexts(messages.filter(isSystem).flatMap(({ message }) => given(message))),
    schema,
    model: modelOf(context),
    answer: [schema ? 'output' : 'text'],
  });
}

export function convertExtractor(context: NodeContext): Draft {
  const system =
    textOf(memberOf(context.parameters, 'options.systemPromptTemplate')) ||
    'Extract the requested information from the text. Leave out what the text does not say.';
  return convertQuestion(context, {
    prompt: valueOf(textOf(context.parameters['text'])),
    systemPrompt: valueOf(system.replaceAll('{format_instructions}', '')),
    schema: extractionSchema(context),
    model: modelOf(context),
    answer: ['output'],
  });
}

export function convertSummary(context: NodeContext): Draft {
  const { parameters } = context;
  const mode = textOf(parameters['operationMode'], 'nodeInputJson');
  if (mode !== 'nodeInputJson' && mode !== 'documentLoader')
    throw new Error('a summary of binary data has no counterpart');
  context.note('review', 'the whole text is summarized with one request, not in chunks');
  return convertQuestion(context, {
    prompt: code("('Write a concise summary of the following:\\n\\n' + text($json))"),
    model: modelOf(context),
    answer: ['response', 'text'],
  });
}
