/** Models of OpenAI-compatible servers, through the chat completions API. */
import type OpenAI from 'openai';
import type { ChatCompletionCreateParamsStreaming } from 'openai/resources/chat/completions';
import type { ModelProvider } from '../../contract/model.ts';
import { partOf } from '../../contract/node.ts';
import { askModel, type Dialect } from '../../models/ask.ts';
import type { Egress } from '../../egress/egress.ts';
import { clientOptions } from '../../models/fetch.ts';
import { chunkReader } from './answer.ts';
import { withReadableErrors } from './errors.ts';
import { adapted, requestOf } from './request.ts';

export const OPENAI_URL = 'https://api.openai.com/v1';

type Account = { apiKey: string; baseURL: string; organization: string | null };

/** The client of the last request of each egress: an agent asks the same server again and again. */
const latest = new WeakMap<Egress, { account: Account; client: OpenAI }>();

function clientOf(Client: typeof OpenAI, egress: Egress, account: Account): OpenAI {
  const known = latest.get(egress);
  if (known && isSame(known.account, account)) return known.client;
  const options = clientOptions(egress);
  const fetch = withReadableErrors(options.fetch);
  const client = new Client({ ...options, ...account, fetch, project: null });
  latest.set(egress, { account, client });
  return client;
}

function isSame(one: Account, other: Account): boolean {
  const { apiKey, baseURL, organization } = one;
  return apiKey === other.apiKey && baseURL === other.baseURL && organization === other.organization;
}

export const openaiModels: ModelProvider = {
  ask: async (request, context) => {
    const part = partOf(context.credential, 'openai');
    const key = context.credential.secret(part.apiKeyRef);
    // Loaded on first use: most runners never need it.
    const { default: Client, APIError, APIConnectionError } = await import('openai');
    const client = clientOf(Client, context.egress, {
      apiKey: key.reveal(),
      baseURL: part.baseURL ?? OPENAI_URL,
      organization: part.organization ?? null,
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
