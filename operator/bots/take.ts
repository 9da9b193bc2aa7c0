/**
 * Adds the bot to the route of a workflow, with the verification material for the gateway, or returns why
 * not: the Credential does not exist, or another workflow has the bot.
 */
import type { Reason } from '../../api/conditions.ts';
import type { Credential, Workflow } from '../../api/kinds.ts';
import { verificationIn, type RouteSpec } from '../../api/route.ts';
import type { OperatorContext } from '../shared/context.ts';
import type { KeyProblem } from '../webhooks/keys.ts';
import type { WebhookSecrets } from '../webhooks/material.ts';
import type { BotHolders } from './holders.ts';
import { botWith, declaredBot, type BotRoute } from './route.ts';

/** Why messages to the bot start no runs of this workflow. */
export type Unserved = {
  reason: Extract<Reason, 'BotTaken' | 'CredentialMissing' | 'WrongCredentialKind'>;
  message: string;
};

type Taken = { route: RouteSpec; unverifiable?: KeyProblem; unserved?: Unserved };

type TakeContext = Pick<OperatorContext, 'caches'> & { webhooks: WebhookSecrets; bots: BotHolders };

/** `served` is the current route. */
export async function withBot(
  { caches, webhooks, bots }: TakeContext,
  { metadata }: Workflow,
  { bot: asked, ...route }: RouteSpec,
  served: RouteSpec | undefined,
): Promise<Taken> {
  const declared = declaredBot(asked);
  if (declared === undefined) return { route };
  const { name, namespace = '', uid = '', annotations } = metadata;
  const self = { namespace, name, uid };
  const credential = caches.credentials.get(namespace, declared.credential);
  const unusable = problemOf(declared, credential);
  if (unusable !== undefined || credential === undefined) return { route, ...unusable };
  const taken = takenBy(declared, bots.take(self, declared));
  if (taken !== undefined) return { route, ...taken };
  const bot = botWith(declared, credential);
  const { verify, platform } = bot;
  if (verify === undefined || platform === undefined)
    return { route: { ...route, bot }, unverifiable: unsigned(declared) };
  const routed = served && verificationIn(served)?.material;
  const credentialUid = credential.metadata.uid ?? '';
  const guarded = { namespace, uid, access: platform, credentialUid, verify, routed, annotations };
  const found = await webhooks.ensure(guarded);
  if (!found.ok) return { route: { ...route, bot }, unverifiable: found };
  const { material, account } = found;
  const known = { ...bot, ...(account !== undefined && { account }), verify: { ...verify, material } };
  const other = takenBy(declared, bots.take(self, known));
  if (other === undefined) return { route: { ...route, bot: known } };
  await webhooks.drop(namespace, uid);
  return { route, ...other };
}

function problemOf(
  { credential: name }: BotRoute,
  credential: Credential | undefined,
): Pick<Taken, 'unserved'> | undefined {
  const prefix = 'No message starts a run:';
  if (credential === undefined || credential.metadata.deletionTimestamp !== undefined) {
    const message = `${prefix} Credential ${name} does not exist in this namespace: apply it, or name another one.`;
    return { unserved: { reason: 'CredentialMissing', message } };
  }
  if (credential.spec.bot) return undefined;
  const message = `${prefix} Credential ${name} is not of kind bot. Name another one.`;
  return { unserved: { reason: 'WrongCredentialKind', message } };
}

function takenBy({ credential }: BotRoute, other: string | undefined): Pick<Taken, 'unserved'> | undefined {
  if (other === undefined) return undefined;
  const message = `The bot of Credential ${credential} already starts runs of workflow ${other}, and a bot can serve one workflow. Deactivate one of the two (spec.active: false), or use another bot.`;
  return { unserved: { reason: 'BotTaken', message } };
}

function unsigned({ credential }: BotRoute): KeyProblem {
  const message = `Credential ${credential} has no signingSecretRef, which is needed to verify messages of Slack: add it`;
  return { reason: 'KeyMissing', message };
}
