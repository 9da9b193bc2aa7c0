/**
 * Checks an API key by listing the models. Servers without a list get an incomplete completion request, which
 * costs nothing and distinguishes a refused key from a wrong address.
 */
import { isHeaderValue } from '../../../api/headers.ts';
import { partOf } from '../../contract/node.ts';
import { OPENAI_URL } from './model.ts';
import { echoesOf, type Mask } from '../../contract/secret.ts';
import type { JsonAnswer } from '../../http/json.ts';
import { type Check, CheckError } from '../../contract/check.ts';
import { ask, refusal, shown, under } from '../../http/check.ts';

/** What the status holds. */
const MOST_MODELS = 50;
const LONGEST_NAME = 256;
const WITHOUT_LIST: ReadonlySet<number> = new Set([404, 405, 501]);
/** The question came to where questions are answered, and something is missing in it. */
const INCOMPLETE: ReadonlySet<number> = new Set([400, 422]);

export const checkOpenai: Check = async (credential, context) => {
  const { baseURL = OPENAI_URL, apiKeyRef, organization } = partOf(credential, 'openai');
  const key = credential.secret(apiKeyRef);
  const secrets = echoesOf(key);
  if (!isHeaderValue(key.reveal()))
    throw new CheckError(
      'Rejected',
      `the key ${apiKeyRef.key} holds a line break or another character that headers cannot hold`,
    );
  const headers = {
    authorization: `Bearer ${key.reveal()}`,
    ...(organization !== undefined && { 'openai-organization': organization }),
  };
  const listed = await ask({ url: under(baseURL, '/models'), headers }, context);
  const models = modelsIn(listed, secrets);
  if (models)
    return {
      message: `${listed.host} accepted the API key and offers ${counted(models)}.`,
      models: models.slice(0, MOST_MODELS),
    };
  if (!WITHOUT_LIST.has(listed.status)) throw refusal(listed, 'the API key', secrets);
  const url = under(baseURL, '/chat/completions');
  const asked = await ask({ url, method: 'POST', headers, json: {} }, context);
  if (INCOMPLETE.has(asked.status))
    return { message: `${asked.host} accepted the API key; it has no list of models.` };
  if (!WITHOUT_LIST.has(asked.status)) throw refusal(asked, 'the API key', secrets);
  const message = `${listed.host} has neither a list of models nor chat completions there: baseURL must be complete, up to and with /v1`;
  throw new CheckError('Unreachable', message);
};

function modelsIn({ status, json }: JsonAnswer, secrets: readonly Mask[]): string[] | undefined {
  const data = (json as { data?: unknown } | undefined | null)?.data;
  if (status !== 200 || !Array.isArray(data)) return undefined;
  const names = data.flatMap((each: { id?: unknown } | null) => shown(each?.id, secrets, LONGEST_NAME) ?? []);
  return [...new Set(names)].toSorted();
}

function counted({ length }: readonly string[]): string {
  return length === 1 ? '1 model' : `${length} models`;
}
