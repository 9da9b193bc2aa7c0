/** What the route says of a bot, as pure functions: some of it the workflow says, the rest its Credential. */
import { isEnabled } from '../../api/access.ts';
import type { Credential, Workflow } from '../../api/kinds.ts';
import type { RouteSpec, Verification } from '../../api/route.ts';
import type { WorkflowSpec } from '../../api/workflow.ts';

export type BotRoute = NonNullable<RouteSpec['bot']>;

const TOLERANCE_SECONDS = 300;
const LONGEST_NAME = 256;

/** What a workflow's trigger says. */
export function botOf(spec: WorkflowSpec): Pick<RouteSpec, 'bot'> {
  const trigger = spec.nodes.find((node) => node.bot)?.bot;
  if (trigger === undefined) return {};
  const { credential, chatTypes, commands } = trigger;
  return { bot: { credential, ...(chatTypes && { chatTypes }), ...(commands && { commands }) } };
}

/** What of a route's bot its workflow says: whatever else there is comes from its Credential. */
export function declaredBot(bot: BotRoute | undefined): BotRoute | undefined {
  if (bot === undefined) return undefined;
  const { credential, chatTypes, commands } = bot;
  return { credential, ...(chatTypes && { chatTypes }), ...(commands && { commands }) };
}

/** The bot with what its Credential says; without `verify` where it cannot be verified who sends its messages. */
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

/** The bot that a workflow asks for, while it is active and not suspended. */
export function wantedBot({ spec }: Pick<Workflow, 'spec'>): BotRoute | undefined {
  return isEnabled(spec) ? botOf(spec).bot : undefined;
}
