/** Anthropic's models, through the Messages API. */
import type { MessageCreateParamsStreaming } from '@anthropic-ai/sdk/resources/messages';
import type { ModelProvider } from '../../contract/model.ts';
import { partOf } from '../../contract/node.ts';
import { askModel, type Dialect } from '../../models/ask.ts';
import { clientOptions } from '../../models/fetch.ts';
import { eventReader } from './answer.ts';
import { adapted, requestOf } from './request.ts';

export const ANTHROPIC_URL = 'https://api.anthropic.com';
export const ANTHROPIC_VERSION = '2026-10-21';
/** Newer versions of the API refuse these members, also where the model takes them. */
const VERSION_WITH_SAMPLING = '2023-06-01';
const SAMPLING = ['temperature', 'top_p', 'top_k'];

export const anthropicModels: ModelProvider = {
  ask: async (request, context) => {
    const part = partOf(context.credential, 'anthropic');
    const key = context.credential.secret(part.apiKeyRef);
    // Loaded on first use: most runners never need it.
    const { default: Anthropic, APIError, APIConnectionError } = await import('@anthropic-ai/sdk');
    const { Stream } = await import('@anthropic-ai/sdk/core/streaming');
    const client = new Anthropic({
      ...clientOptions(context.egress),
      apiKey: key.reveal(),
      authToken: null,
      baseURL: part.baseURL ?? ANTHROPIC_URL,
    });
    /** The library's own stream leaves out pings, by which a model shows that it thinks. */
    async function* eventsOf(response: Response): AsyncGenerator {
      for await (const { event, data } of Stream.rawEvents(response)) {
        if (event === null || data === '') continue;
        const value: unknown = JSON.parse(data);
        if (event === 'error') throw new APIError(undefined, value as object, undefined, response.headers);
        yield value;
      }
    }
    const dialect: Dialect<MessageCreateParamsStreaming> = {
      errors: {
        ApiError: APIError,
        ConnectionError: APIConnectionError,
        messageOf: (error) => (error instanceof APIError && error.apiMessage) || error.message,
      },
      key,
      send: async (body, { signal, headers }) => {
        // The library's own method writes warnings about models to the console.
        const request = client.post('/v1/messages', {
          body,
          signal,
          headers: { ...headers, 'anthropic-version': versionFor(body) },
          stream: true,
        });
        return eventsOf(await request.asResponse());
      },
      add: eventReader(),
      adapt: adapted,
    };
    return askModel(requestOf(request), dialect, context);
  },
};

function versionFor(body: object): string {
  return SAMPLING.some((member) => member in body) ? VERSION_WITH_SAMPLING : ANTHROPIC_VERSION;
}
