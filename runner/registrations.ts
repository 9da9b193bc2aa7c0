/**
 * Has the updates of bots sent to us, or not any more, when the operator asks for it. With a bot whose token is gone by the time at
 * which its webhook is to be deleted, the token that registered it is used.
 */
import type { RegistrationResult } from '../api/registration.ts';
import { StepError } from '../api/reasons.ts';
import { resultOf } from '../nodes/check/check.ts';
import { registerWebhook } from '../nodes/bots/webhook.ts';
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
  const { name, url } = request;
  try {
    const credential = await accessFor(deps, held, taken);
    const { egress } = deps;
    const wish = { ...request, uid };
    const result = await resultOf((access, context) => registerWebhook(access, wish, context), credential, {
      egress,
      signal,
    });
    if (result.works && url !== undefined) held.set(uid, credential);
    else if (result.works) held.delete(uid);
    return result;
  } catch (error) {
    if (error instanceof StepError) return { works: false, reason: 'NotChecked', message: error.message };
    deps.log.error({ credential: name, err: error }, 'registering failed by a defect');
    return DEFECT;
  }
}

/**
 * The credential with its Secrets as they are now; to delete a webhook, as they were, where the token cannot be had any more. Throws a
 * StepError where they cannot be read.
 */
async function accessFor(
  { credentials }: CheckerDeps,
  held: Held,
  { uid, request: { name, spec, url } }: Taken<RegistrationRequest>,
): Promise<CredentialAccess> {
  const known = url === undefined ? held.get(uid) : undefined;
  try {
    const credential = await credentials.fresh(name, spec);
    return known === undefined || hasToken(credential) ? credential : known;
  } catch (error) {
    if (!known) throw error;
    return known;
  }
}

function hasToken(credential: CredentialAccess): boolean {
  try {
    return credential.secret(partOf(credential, 'bot').tokenRef).reveal() !== '';
  } catch {
    return false;
  }
}
