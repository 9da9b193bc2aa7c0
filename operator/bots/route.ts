/** The bot of a route, from the workflow and its Credential. Pure. */
import { isEnabled } from '../../api/access.ts';
import type { Credential, Workflow } from '../../api/kinds.ts';
import type { RouteSpec, Verification } from '../../api/route.ts';
import type { WorkflowSpec } from '../../api/workflow.ts';

export type BotRoute = NonNullable<RouteSpec['bot']>;

const TOLERANCE_SECONDS = 300;
const LONGEST_NAME = 256;

/** The bot as the trigger of a workflow declares it. */
export function botOf(spec: WorkflowSpec): Pick<RouteSpec, 'bot'> {
  const trigger = spec.nodes.find((node) => node.bot)?.bot;
  if (trigger === undefined) return {};
  const { credential, chatTypes, commands } = trigger;
  return { bot: { credential, ...(chatTypes && { chatTypes }), ...(commands && { commands }) } };
}

/** The part of a route's bot that the workflow declares, without that of the Credential. */
export function declaredBot(bot: BotRoute | undefined): BotRoute | undefined {
  if (bot === undefined) return undefined;
  const { credential, chatTypes, commands } = bot;
  return { credential, ...(chatTypes && { chatTypes }), ...(commands && { commands }) };
}

/** The bot with the fields of its Credential; without `verify` if senders cannot be verified. */
export function botWith(declared: BotRoute, { spec, status }: Credential): BotRoute {
  const { platform = 'telegram', tokenRef, signingSecretRef } = spec.bot ?? {};
  const secretRef = platform === 'slack' ? signingSecretRef : tokenRef;
  const verify: Verification | undefined = secretRef && {
    secretRefs: [secretRef],
    toleranceSeconds: TOLERANCE_SECONDS,
  };
  const username = platform === 'telegram' ? status?.account?.slice(0, LONGEST_NAME) : undefined;
  return {
    ...declared,
    platform,
    ...(username !== undefined && { username }),
    ...(verify && { verify }),
  };
}

/** The bot that an active workflow asks for. */
export function requestedBot({ spec }: Pick<Workflow, 'spec'>): BotRoute | undefined {
  return isEnabled(spec) ? botOf(spec).bot : undefined;
}
