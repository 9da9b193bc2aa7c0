/**
 * Which workflow has a bot: the first that asked, until it releases it. A bot has one URL, and a message
 * starts one run. Routes show which workflow has it; decisions that are not in a route yet are remembered
 * here.
 */
import type { WebhookRoute } from '../../api/kinds.ts';
import { objectKey } from '../../kube/resource.ts';
import type { Caches } from '../shared/caches.ts';
import { requestedBot, type BotRoute } from './route.ts';

export type BotHolders = {
  /** Assigns the bot to the workflow, or returns the name of the other workflow that has it. */
  take(workflow: { namespace: string; name: string; uid: string }, bot: BotRoute): string | undefined;
};

type Claim = { uid: string; name: string };

type BotCaches = { workflows: Pick<Caches['workflows'], 'get'>; routes: Pick<Caches['routes'], 'list'> };

export function createBotHolders(caches: BotCaches): BotHolders {
  const claims = new Map<string, Claim>();

  /** Whether the workflow with the claim still asks for the bot. */
  function stands(namespace: string, credential: string, { uid, name }: Claim): boolean {
    const workflow = caches.workflows.get(namespace, name);
    return workflow?.metadata.uid === uid && requestedBot(workflow)?.credential === credential;
  }

  return {
    take: ({ namespace, name, uid }, bot) => {
      const key = objectKey({ namespace, name: bot.credential });
      const claim = claims.get(key);
      const routed = caches.routes.list(namespace).find((route) => has(route, uid, bot));
      if (routed) {
        if (claim?.uid === uid) claims.delete(key);
        return routed.spec.workflow;
      }
      if (claim && claim.uid !== uid && stands(namespace, bot.credential, claim)) return claim.name;
      claims.set(key, { uid, name });
      return undefined;
    },
  };
}

/** Whether the route of another workflow has the bot, also by another Credential with the same token. */
function has({ spec }: WebhookRoute, uid: string, { credential, account }: BotRoute): boolean {
  const { bot } = spec;
  if (bot === undefined || spec.workflowUID === uid) return false;
  return bot.credential === credential || (account !== undefined && bot.account === account);
}
