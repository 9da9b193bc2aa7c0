/**
 * Has the updates of bots sent to us, or not any more, when the operator asks for it. With a bot whose token
 * is gone by the time at which its webhook is to be deleted, be it that its Credential has become that of
 * another bot, the token that registered it is used.
 */
import { telegramId } from '../api/bot.ts';
import type { Registered, RegistrationResult } from '../api/registration.ts';
import { StepError } from '../api/reasons.ts';
import { resultOf, type CheckContext } from '../nodes/check.ts';
import { registerWebhook } from '../nodes/providers/telegram/webhook.ts';
import { partOf, type CredentialAccess } from '../nodes/node.ts';
import type { Taken } from '../runs/questions.ts';
import { REGISTRATIONS, type RegistrationRequest } from '../runs/registrations.ts';
import { answerQuestions, DEFECT } from './answers.ts';
import type { CheckerDeps } from './checks.ts';

/** By the credential's uid: with what its bot was registered. */
type Held = Map<string, CredentialAccess>;

/** Creates it; `run` registers until the signal is aborted. */
export function createRegistrar(deps: CheckerDeps): { run(signal: AbortSignal): Promise<void> } {
  const held: Held = new Map();
  return {
    run: (signal) =>
      answerQuestions(deps, REGISTRATIONS, (taken) => register(deps, held, taken, signal), signal),
  };
}

async function register(
  deps: CheckerDeps,
  held: Held,
  taken: Taken<RegistrationRequest>,
  signal: AbortSignal,
): Promise<RegistrationResult> {
  const { uid, request } = taken;
  const { registered } = request;
  const result = await tryTo(deps, request.name, async () => {
    const credential = await accessFor(deps, held, taken);
    const context = { egress: deps.egress, signal };
    const bot = idOf(credential);
    const isFirst = registered === undefined || isOther(registered.bot, bot);
    const wish = { ...request, uid, isFirst };
    const result = await resultOf((access) => registerWebhook(access, wish, context), credential, context);
    if (!result.works) return result;
    const left = await leaveOther(held.get(uid), bot, taken, context);
    if (request.url === undefined) held.delete(uid);
    else held.set(uid, credential);
    return { ...result, ...(bot !== undefined && { bot }), ...(left !== undefined && { left }) };
  });
  return result.works || registered === undefined ? result : { ...result, registered };
}

async function tryTo(
  { log }: CheckerDeps,
  credential: string,
  work: () => Promise<RegistrationResult>,
): Promise<RegistrationResult> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StepError) return { works: false, reason: 'NotChecked', message: error.message };
    log.error({ credential, err: error }, 'registering failed by a defect');
    return DEFECT;
  }
}

/**
 * Deletes the webhook of the bot that the Credential had before, if it was another one; answers with why that
 * is there still.
 */
async function leaveOther(
  before: CredentialAccess | undefined,
  bot: string | undefined,
  { uid, request }: Taken<RegistrationRequest>,
  context: CheckContext,
): Promise<string | undefined> {
  const { url: _url, registered, ...rest } = request;
  const isHeld = before !== undefined && isOther(idOf(before), bot);
  if (isHeld) {
    const wish = { ...rest, uid, isFirst: false };
    const result = await resultOf((access) => registerWebhook(access, wish, context), before, context);
    if (!result.works) return result.message;
  }
  const isLost = isOther(registered?.bot, bot) && !(isHeld && idOf(before) === registered?.bot);
  return isLost ? 'no runner has its token any more' : undefined;
}

function isOther(before: Registered['bot'], now: string | undefined): boolean {
  return before !== undefined && now !== undefined && before !== now;
}

/** The id of its bot; undefined without a token that says one. */
function idOf(credential: CredentialAccess): string | undefined {
  return telegramId(tokenOf(credential));
}

/** Empty where there is none. */
function tokenOf(credential: CredentialAccess): string {
  try {
    return credential.secret(partOf(credential, 'bot').tokenRef).reveal();
  } catch {
    return '';
  }
}

/**
 * The credential with its Secrets as they are now; to delete a webhook, as they were, where the token cannot
 * be had any more or is that of another bot. Throws a StepError where they cannot be read.
 */
async function accessFor(
  { credentials }: CheckerDeps,
  held: Held,
  { uid, request: { name, spec, url } }: Taken<RegistrationRequest>,
): Promise<CredentialAccess> {
  const known = url === undefined ? held.get(uid) : undefined;
  try {
    const credential = await credentials.fresh(name, spec);
    const isSame = tokenOf(credential) !== '' && !isOther(known && idOf(known), idOf(credential));
    return known === undefined || isSame ? credential : known;
  } catch (error) {
    if (!known) throw error;
    return known;
  }
}
