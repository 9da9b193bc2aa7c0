/** Models of OpenAI-compatible servers, through the chat completions API. */
import type { ChatCompletionCreateParamsStreaming } from 'openai/resources/chat/completions';
import type { ModelProvider } from '../../contract/model.ts';
import { partOf } from '../../contract/node.ts';
import { askModel, type Dialect } from '../../models/ask.ts';
import { clientOptions } from '../../models/fetch.ts';
import { chunkReader } from './answer.ts';
import { withReadableErrors } from './errors.ts';
import { adapted, requestOf } from './request.ts';

export const OPENAI_URL = 'https://api.openai.com/v1';

export const openaiModels: ModelProvider = {
  ask: async (request, context) => {
    const part = partOf(context.credential, 'openai');
    const key = context.credential.secret(part.apiKeyRef);
    // Loaded on first use: most runners never need it.
    const { default: OpenAI, APIError, APIConnectionError } = await import('openai');
    const options = clientOptions(context.egress);
    const client = new OpenAI({
      ...options,
      fetch: withReadableErrors(options.fetch),
      apiKey: key.reveal(),
      baseURL: part.baseURL ?? OPENAI_URL,
      organization: part.organization ?? null,
      project: null,
    });
    const dialect: Dialect<ChatCompletionCreateParamsStreaming> = {
      errors: { ApiError: APIError, ConnectionError: APIConnectionError },
      key,
      send: (body, given) => client.chat.completions.create(body, given),
      add: chunkReader(),
      adapt: adapted,
    };
    return askModel(requestOf(request), dialect, context);
  },
};
