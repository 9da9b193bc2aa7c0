/**
 * Which workflow takes the messages of a bot: the first one that asked, until it lets go. A bot has one URL, and what comes there
 * starts one run. Routes say who has it; what was decided and is not in a route yet is remembered here.
 */
import type { WebhookRoute } from '../../api/kinds.ts';
import { objectKey } from '../../kube/resource.ts';
import type { Caches } from '../shared/caches.ts';
import { wantedBot, type BotRoute } from './route.ts';

export type BotHolders = {
  /** Takes the bot for a workflow; the name of the one that has it, if that is another one: then the workflow has none. */
  take(workflow: { namespace: string; name: string; uid: string }, bot: BotRoute): string | undefined;
};

type Claim = { uid: string; name: string };

type Seen = { workflows: Pick<Caches['workflows'], 'get'>; routes: Pick<Caches['routes'], 'list'> };

export function createBotHolders(caches: Seen): BotHolders {
  const claims = new Map<string, Claim>();

  /** Whether the workflow that has claimed it still wants it. */
  function stands(namespace: string, credential: string, { uid, name }: Claim): boolean {
    const workflow = caches.workflows.get(namespace, name);
    return workflow?.metadata.uid === uid && wantedBot(workflow)?.credential === credential;
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

/** Whether the route of another workflow has the bot, be it by another Credential with the same token. */
function has({ spec }: WebhookRoute, uid: string, { credential, account }: BotRoute): boolean {
  const { bot } = spec;
  if (bot === undefined || spec.workflowUID === uid) return false;
  return bot.credential === credential || (account !== undefined && bot.account === account);
}
