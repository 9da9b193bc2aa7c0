/**
 * Registers and deletes the webhooks of bots on request of the operator. If the token of a bot is gone when
 * its webhook must be deleted, for example because its Credential was changed to another bot, the token that
 * registered the webhook is used.
 */
import { telegramId } from '../api/bot.ts';
import type { Registered, RegistrationResult } from '../api/registration.ts';
import { StepError } from '../api/reasons.ts';
import { resultOf, type CheckContext } from '../nodes/contract/check.ts';
import { registerWebhook } from '../nodes/providers/telegram/webhook.ts';
import { partOf, type CredentialAccess } from '../nodes/contract/node.ts';
import type { Taken } from '../store/requests/requests.ts';
import { REGISTRATIONS, type RegistrationRequest } from '../store/requests/registrations.ts';
import { answerRequests, DEFECT, type RequestDeps } from './requests.ts';

/** By the uid of the credential: the credential that registered the bot. */
type Registrants = Map<string, CredentialAccess>;

/** Registers bots until the signal is aborted. */
export async function answerRegistrations(deps: RequestDeps, signal: AbortSignal): Promise<void> {
  const registrants: Registrants = new Map();
  await answerRequests(deps, REGISTRATIONS, (taken) => register(deps, registrants, taken, signal), signal);
}

async function register(
  deps: RequestDeps,
  registrants: Registrants,
  taken: Taken<RegistrationRequest>,
  signal: AbortSignal,
): Promise<RegistrationResult> {
  const { uid, request } = taken;
  const { registered } = request;
  const result = await caught(deps, request.name, async () => {
    const credential = await accessFor(deps, registrants, taken);
    const context = { egress: deps.egress, signal };
    const bot = idOf(credential);
    const isFirst = registered === undefined || isOther(registered.bot, bot);
    const webhook = { ...request, uid, isFirst };
    const result = await resultOf((access) => registerWebhook(access, webhook, context), credential, context);
    if (!result.works) return result;
    const left = await deleteFormer(registrants.get(uid), bot, taken, context);
    if (request.url === undefined) registrants.delete(uid);
    else registrants.set(uid, credential);
    return { ...result, ...(bot !== undefined && { bot }), ...(left !== undefined && { left }) };
  });
  return result.works || registered === undefined ? result : { ...result, registered };
}

async function caught(
  { log }: RequestDeps,
  credential: string,
  work: () => Promise<RegistrationResult>,
): Promise<RegistrationResult> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StepError) return { works: false, reason: 'NotChecked', message: error.message };
    log.error({ credential, err: error }, 'registration failed unexpectedly');
    return DEFECT;
  }
}

/**
 * Deletes the webhook of the bot that the Credential had before, if it was another bot. Returns why that
 * failed.
 */
async function deleteFormer(
  before: CredentialAccess | undefined,
  bot: string | undefined,
  { uid, request }: Taken<RegistrationRequest>,
  context: CheckContext,
): Promise<string | undefined> {
  const { url: _url, registered, ...rest } = request;
  const isKnown = before !== undefined && isOther(idOf(before), bot);
  if (isKnown) {
    const webhook = { ...rest, uid, isFirst: false };
    const result = await resultOf((access) => registerWebhook(access, webhook, context), before, context);
    if (!result.works) return result.message;
  }
  const isLost = isOther(registered?.bot, bot) && !(isKnown && idOf(before) === registered?.bot);
  return isLost ? 'no runner has its token' : undefined;
}

function isOther(before: Registered['bot'], now: string | undefined): boolean {
  return before !== undefined && now !== undefined && before !== now;
}

/** The ID of the bot; undefined without a valid token. */
function idOf(credential: CredentialAccess): string | undefined {
  return telegramId(tokenOf(credential));
}

/** The token of the bot; '' if there is none. */
function tokenOf(credential: CredentialAccess): string {
  try {
    return credential.secret(partOf(credential, 'bot').tokenRef).reveal();
  } catch {
    return '';
  }
}

/**
 * The credential with its current Secrets. To delete a webhook: the credential that registered it, if the
 * current token is missing or belongs to another bot. Throws a StepError if the Secrets cannot be read.
 */
async function accessFor(
  { credentials }: RequestDeps,
  registrants: Registrants,
  { uid, request: { name, spec, url } }: Taken<RegistrationRequest>,
): Promise<CredentialAccess> {
  const known = url === undefined ? registrants.get(uid) : undefined;
  try {
    const credential = await credentials.fresh(name, spec);
    const isSame = tokenOf(credential) !== '' && !isOther(known && idOf(known), idOf(credential));
    return known === undefined || isSame ? credential : known;
  } catch (error) {
    if (!known) throw error;
    return known;
  }
}
