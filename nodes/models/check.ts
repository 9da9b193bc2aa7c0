/**
 * Checks an API key by listing the models. Servers without a list get an incomplete request, which costs
 * nothing and distinguishes a refused key from a wrong address.
 */
import { isHeaderValue } from '../../api/headers.ts';
import type { SecretKeyRef } from '../../api/value.ts';
import { CheckError, type CheckContext, type Found } from '../contract/check.ts';
import type { CredentialAccess } from '../contract/node.ts';
import { echoesOf, type Mask } from '../contract/secret.ts';
import { ask, refusal, shown, under } from '../http/check.ts';
import type { JsonAnswer } from '../http/json.ts';

/** What the status holds. */
const MOST_MODELS = 50;
const LONGEST_NAME = 256;
const WITHOUT_LIST: ReadonlySet<number> = new Set([404, 405, 501]);
/** The request reached the models, and something is missing in it. */
const INCOMPLETE: ReadonlySet<number> = new Set([400, 422]);

/** Where the API lists its models and answers requests, and how a request shows the key. */
type ModelAPI = {
  baseURL: string;
  list: string;
  ask: string;
  /** How messages name what `ask` offers. */
  title: string;
  /** How a base URL must be written. */
  remedy: string;
  apiKeyRef: SecretKeyRef;
  headers: (key: string) => Record<string, string>;
};

/** Lists the models. Throws a CheckError or a Failure. */
export async function checkModels(
  api: ModelAPI,
  credential: CredentialAccess,
  context: CheckContext,
): Promise<Found> {
  const key = credential.secret(api.apiKeyRef);
  const secrets = echoesOf(key);
  if (!isHeaderValue(key.reveal()))
    throw new CheckError(
      'Rejected',
      `the key ${api.apiKeyRef.key} holds a line break or another character that headers cannot hold`,
    );
  const headers = api.headers(key.reveal());
  const listed = await ask({ url: under(api.baseURL, api.list), headers }, context);
  const models = modelsIn(listed, secrets);
  if (models)
    return {
      message: `${listed.host} accepted the API key and offers ${counted(models)}.`,
      models: models.slice(0, MOST_MODELS),
    };
  if (!WITHOUT_LIST.has(listed.status)) throw refusal(listed, 'the API key', secrets);
  const url = under(api.baseURL, api.ask);
  const asked = await ask({ url, method: 'POST', headers, json: {} }, context);
  if (INCOMPLETE.has(asked.status))
    return { message: `${asked.host} accepted the API key; it has no list of models.` };
  if (!WITHOUT_LIST.has(asked.status)) throw refusal(asked, 'the API key', secrets);
  const message = `${listed.host} has neither a list of models nor ${api.title} there: ${api.remedy}`;
  throw new CheckError('Unreachable', message);
}

function modelsIn({ status, json }: JsonAnswer, secrets: readonly Mask[]): string[] | undefined {
  const data = (json as { data?: unknown } | undefined | null)?.data;
  if (status !== 200 || !Array.isArray(data)) return undefined;
  const names = data.flatMap((each: { id?: unknown } | null) => shown(each?.id, secrets, LONGEST_NAME) ?? []);
  return [...new Set(names)].toSorted();
}

function counted({ length }: readonly string[]): string {
  return length === 1 ? '1 model' : `${length} models`;
}
