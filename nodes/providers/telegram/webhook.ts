/**
 * Registers the webhook of a Telegram bot (https://core.telegram.org/bots/api#setwebhook, #deletewebhook,
 * #getwebhookinfo). Idempotent: reads the registration first, and changes only what differs. A registration
 * of somebody else is replaced only by one of ours.
 */
import { botSecret, TELEGRAM_UPDATES } from '../../../api/bot.ts';
import { type CheckContext, CheckError } from '../../contract/check.ts';
import { ask, refusal, shown } from '../../http/check.ts';
import type { JsonAnswer } from '../../http/json.ts';
import { partOf, type CredentialAccess } from '../../contract/node.ts';
import { methodURL } from './api.ts';
import { echoesOf, Secret, type Mask } from '../../contract/secret.ts';
import { membersOf } from '../../../api/record.ts';

const LONGEST_QUOTE = 300;
/** An error that is older tells nothing of now. */
const RECENT_S = 600;

export type DesiredWebhook = {
  /** The uid of the bot's Credential. */
  uid: string;
  /** Where the updates are to be sent; left out: not to us. */
  url?: string;
  /** Where they were sent before by us. */
  ours: readonly string[];
  /** The webhook was as desired at the last check. */
  wasSo: boolean;
  /** What was written to the bot before starts nothing. */
  isFirst: boolean;
};

export type Registered = { url?: string; mended?: string; undelivered?: string };

/** The bot as this speaks to it. */
type Bot = { apiURL: string | undefined; token: Secret; masks: readonly Mask[]; context: CheckContext };

/**
 * Makes the registration as desired.
 * @throws CheckError, or a StepError of what it used
 */
export async function registerWebhook(
  credential: CredentialAccess,
  webhook: DesiredWebhook,
  context: CheckContext,
): Promise<Registered> {
  const { apiURL, tokenRef } = partOf(credential, 'bot');
  const token = credential.secret(tokenRef);
  const bot: Bot = { apiURL, token, masks: echoesOf(token), context };
  const found = infoIn(await call(bot, 'getWebhookInfo'));
  return webhook.url === undefined
    ? leave(bot, webhook.ours, found)
    : take(bot, { ...webhook, url: webhook.url }, found);
}

async function leave(bot: Bot, ours: readonly string[], { url }: Info): Promise<Registered> {
  if (ours.includes(url)) await call(bot, 'deleteWebhook', {});
  return {};
}

async function take(
  bot: Bot,
  { uid, url, ours, wasSo, isFirst }: DesiredWebhook & { url: string },
  found: Info,
): Promise<Registered> {
  const isThere = found.url === url;
  const difference = differenceIn(found, url);
  const undelivered = shown(found.undelivered, bot.masks, LONGEST_QUOTE);
  if (wasSo && difference === undefined) return { url, ...(undelivered !== undefined && { undelivered }) };
  const secret = botSecret(bot.token.reveal(), uid);
  const speaker = { ...bot, masks: [...bot.masks, ...echoesOf(new Secret(secret))] };
  const desired = {
    url,
    secret_token: secret,
    allowed_updates: TELEGRAM_UPDATES,
    // If it was registered already, an earlier registration was interrupted: what came since then counts.
    drop_pending_updates: isFirst && !isThere,
  };
  await call(
    speaker,
    'setWebhook',
    desired,
    `(the URL was ${url}, as gateway.public.url of the chart has it)`,
  );
  const isForeign = found.url !== '' && !isThere && !ours.includes(found.url);
  return { url, ...(difference !== undefined && (wasSo || isForeign) && { mended: difference }) };
}

/** What is not as it should be, as half a sentence about the bot. */
function differenceIn({ url, updates, isRefused }: Info, desired: string): string | undefined {
  if (url === '') return 'its updates were sent nowhere';
  if (url !== desired) return `its updates were sent to ${hostOf(url)}`;
  const isSame = updates?.toSorted().join() === TELEGRAM_UPDATES.toSorted().join();
  if (!isSame) return 'it was registered for other kinds of updates';
  return isRefused ? 'its updates came with another secret than ours' : undefined;
}

/** The rest of a URL may be a secret of somebody else. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host.slice(0, LONGEST_QUOTE) : 'another address';
}

type Info = {
  /** Empty: nowhere. */
  url: string;
  updates: string[] | undefined;
  /** Why the last update could not be delivered, if that was lately and some wait still. */
  undelivered: string | undefined;
  /** It was the receiver, who did not take the secret. */
  isRefused: boolean;
};

/** `WebhookInfo`. */
function infoIn({ host, json }: JsonAnswer): Info {
  const result = (json as { result?: unknown }).result;
  const info = membersOf(result);
  const { url, allowed_updates: updates, last_error_message: said } = info;
  if (typeof url !== 'string') throw new CheckError('Unreachable', `${host} answered with no webhook info`);
  const ageS = Date.now() / 1_000 - Number(info['last_error_date'] ?? 0);
  const isWaiting = Number(info['pending_update_count'] ?? 0) > 0;
  const undelivered = typeof said === 'string' && ageS < RECENT_S && isWaiting ? said : undefined;
  return {
    url,
    updates: Array.isArray(updates) ? updates.map(String) : undefined,
    undelivered,
    isRefused: /\b401\b/.test(undelivered ?? ''),
  };
}

/**
 * Calls a method. Only what is done comes back. `remark` is for people where it does not take the parameters.
 */
async function call(bot: Bot, method: string, parameters: object = {}, remark = ''): Promise<JsonAnswer> {
  const { apiURL, token, masks, context } = bot;
  const url = methodURL(token, method, apiURL);
  const answer = await ask({ url, method: 'POST', json: parameters }, context);
  const { host, status, json } = answer;
  if (status === 404) throw new CheckError('Rejected', `${host} knows no bot with this token`);
  const said = membersOf(json);
  if (status === 200 && said['ok'] === true) return answer;
  const { message, reason, retryAfterMs } = refusal(answer, 'the token', masks);
  // What it does not take it will not take later: the URL is not fit for it.
  if (status === 400) throw new CheckError('Rejected', `${message} ${remark}`.trimEnd());
  throw new CheckError(reason, message, { retryAfterMs: retryAfterMs ?? waitIn(said['parameters']) });
}

/** `ResponseParameters`: https://core.telegram.org/bots/api#responseparameters */
function waitIn(parameters: unknown): number | undefined {
  const { retry_after: seconds } = (parameters ?? {}) as { retry_after?: unknown };
  return typeof seconds === 'number' && seconds > 0 ? Math.min(seconds, 86_400) * 1_000 : undefined;
}
