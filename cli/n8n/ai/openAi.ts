/** The OpenAI nodes. */
import { type Model, convertQuestion, settingsOf } from './question.ts';
import { memberOf, textOf } from '../model/json.ts';
import type { Draft } from '../steps/items.ts';
import type { NodeContext } from '../steps/context.ts';
import { toolsOf } from './tools.ts';
import { code, constant, objectValue, toJavaScript, valueOf } from '../expressions/value.ts';
import { convertRequest } from '../steps/request.ts';
import { messagesOf } from './prompts.ts';

function openAiModel(context: NodeContext, usual: string, ...raws: unknown[]): Model {
  const raw: string =
    raws.map((each) => textOf(memberOf(each, 'value') ?? each)).find((text) => text !== '') ?? '';
  if (raw.startsWith('=')) context.note('review', `its model is an expression: ${usual} is set`);
  return {
    credential: context.credential(['model:openAiApi']),
    model: raw === '' || raw.startsWith('=') ? usual : raw.slice(0, 256),
    ...settingsOf(memberOf(context.parameters, 'options')),
  };
}

const OPENAI = 'https://api.openai.com/v1';

/** The app node OpenAI: its messages are an agent, other operations requests. */
export function convertOpenAi(context: NodeContext): Draft {
  const { parameters } = context;
  const resource = textOf(parameters['resource'], 'text');
  const operation = textOf(
    parameters['operation'],
    { text: 'message', image: 'generate', audio: 'generate', assistant: 'message' }[resource] ?? '',
  );
  if (resource === 'text' && ['message', 'response'].includes(operation))
    return askOpenAi(context, operation);
  const credential = () => context.credential(['openAiApi']);
  if (resource === 'text' && operation === 'classify')
    return convertRequest(context, {
      method: constant('POST'),
      url: constant(`${OPENAI}/moderations`),
      body: objectValue({ input: valueOf(parameters['input'] ?? '') }),
      credential: credential(),
      items: (r) => `${r}.body.results`,
    });
  if (resource === 'image' && operation === 'generate') return generateImage(context);
  if (resource === 'image' && operation === 'analyze' && textOf(parameters['inputType'], 'url') === 'url')
    return analyzeImages(context);
  throw new Error(`OpenAI: ${resource} ${operation} has no counterpart`);
}

function askOpenAi(context: NodeContext, operation: string): Draft {
  const { parameters } = context;
  const isJson = parameters['jsonOutput'] === true;
  const messages = messagesOf(
    memberOf(parameters, operation === 'message' ? 'messages.values' : 'responses.values'),
  );
  const schema = isJson ? { type: 'object' } : undefined;
  return convertQuestion(context, {
    ...messages,
    schema,
    tools: toolsOf(context),
    model: openAiModel(context, 'gpt-4o-mini', parameters['modelId']),
    answer: parameters['simplify'] === false ? ['choices', 0, 'message', 'content'] : ['message', 'content'],
  });
}

function analyzeImages(context: NodeContext): Draft {
  const { parameters } = context;
  const urls = toJavaScript(valueOf(parameters['imageUrls'] ?? ''));
  const content = code(
    `[{ type: 'text', text: ${toJavaScript(valueOf(parameters['text'] ?? "What's in this image?"))} }, ...String(${urls}).split(',').map((url) => ({ type: 'image_url', image_url: { url: url.trim() } }))]`,
  );
  const { model } = openAiModel(context, 'gpt-4o', parameters['modelId']);
  return convertRequest(context, {
    method: constant('POST'),
    url: constant(`${OPENAI}/chat/completions`),
    body: objectValue({
      model: constant(model),
      messages: { kind: 'list', elements: [objectValue({ role: constant('user'), content })] },
    }),
    credential: context.credential(['openAiApi']),
    items: (r) => `[{ content: ${r}.body.choices[0].message.content }]`,
  });
}

function generateImage(context: NodeContext): Draft {
  const { parameters } = context;
  context.note(
    'review',
    'the answer has a URL or base64 in place of binary data; more than 384 KiB fail the step',
  );
  return convertRequest(context, {
    method: constant('POST'),
    url: constant(`${OPENAI}/images/generations`),
    body: objectValue({
      model: constant(textOf(parameters['model'], 'dall-e-3').replace(/^=.*/s, 'dall-e-3')),
      prompt: valueOf(parameters['prompt'] ?? ''),
    }),
    credential: context.credential(['openAiApi']),
    items: (r) => `${r}.body.data`,
  });
}

/** The OpenAI node of before the LangChain nodes. */
export function convertOldOpenAi(context: NodeContext): Draft {
  const { parameters } = context;
  const resource = textOf(parameters['resource'], 'text');
  if (resource === 'image') return generateImage(context);
  if (resource === 'text') {
    if (parameters['operation'] === 'moderate') throw new Error('OpenAI: moderation has no counterpart');
    const prompt = valueOf(parameters['prompt'] ?? parameters['input'] ?? '');
    return convertQuestion(context, {
      prompt,
      model: openAiModel(context, 'gpt-4o-mini', parameters['model']),
      answer: ['text'],
    });
  }
  const messages = messagesOf(memberOf(parameters, 'prompt.messages'));
  return convertQuestion(context, {
    ...messages,
    model: openAiModel(context, 'gpt-4o-mini', parameters['chatModel'], parameters['model']),
    answer: ['message', 'content'],
  });
}
