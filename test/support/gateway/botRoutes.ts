/** The route of a bot as the operator would write it, with what its messages are verified with. */
import { encodeKeys, entryName, WEBHOOKS } from '../../../api/webhookAuth.ts';
import { webhookRoutes } from '../../../gateway/routing/follow.ts';
import type { KubeClient } from '../../../kube/client.ts';
import { secrets } from '../../../kube/resource.ts';
import { NAMESPACE, PROJECT, workflowUid } from './gatewayHarness.ts';

const MATERIAL = 'fedcba9876543210';
/** What the messages of the bot show. */
const SECRET = 'kc1nYpC7vVZ_-8Zw4zqUu4r1wE9gq2b5n5Lr0fW1xYk';

/** The headers of a message of the bot. */
export const SHOWN: Record<string, string> = { 'x-telegram-bot-api-secret-token': SECRET };

/** A Telegram bot that a workflow has. The project's Secret then holds its secret alone. */
export async function putBot(client: KubeClient, workflow: string, credential: string): Promise<void> {
  const entry = Buffer.from(encodeKeys([Buffer.from(SECRET)])).toString('base64');
  const data = { [entryName(workflowUid(workflow), MATERIAL)]: entry };
  await client.apply(secrets, { metadata: { namespace: NAMESPACE, name: WEBHOOKS }, data });
  const verify = {
    material: MATERIAL,
    secretRefs: [{ name: 'bots', key: 'token' }],
    toleranceSeconds: 300,
  };
  await client.apply(webhookRoutes, {
    metadata: { namespace: NAMESPACE, name: workflow },
    spec: {
      workflow,
      workflowUID: workflowUid(workflow),
      projectUID: PROJECT,
      revision: `${workflow}-1`,
      trigger: 'bot',
      active: true,
      bot: { credential, platform: 'telegram', verify },
    },
  });
}
