/**
 * Deletes the routes of test runs that do not listen any more: an event came, nobody sent one in time, or the
 * run was cancelled or deleted. The gateway refuses further events before, since none of them gets the run.
 */
import { verificationIn } from '../../api/route.ts';
import { done, type Action, type Key } from '../../kube/controller.ts';
import { takeListening } from '../../runs/listening.ts';
import { isUnavailable } from '../../store/connection.ts';
import { LISTENING, projectOf, testRouteOf } from '../shared/caches.ts';
import type { OperatorContext } from '../shared/context.ts';
import { watch, type Controller } from '../shared/controller.ts';
import { unreachable } from '../shared/errors.ts';
import { webhookRoutes } from '../shared/resources.ts';
import type { WebhookSecrets } from '../webhooks/material.ts';
import { isNew } from './decide.ts';

type TestRouteContext = OperatorContext & { webhooks: Pick<WebhookSecrets, 'drop'> };

/** Its keys name the uids of runs. */
export const testRouteController: Controller<TestRouteContext> = {
  name: 'testroute',
  concurrency: 2,
  watches: [
    watch(
      ({ testRoutes }) => testRoutes,
      ({ metadata: { namespace = '' }, spec }) => [{ namespace, name: spec.workflowUID }],
    ),
    watch(
      ({ runs }) => runs,
      ({ metadata: { namespace = '', uid = '' }, spec }, { type }) =>
        spec.listenFor === undefined || type === 'added' ? [] : [{ namespace, name: uid }],
    ),
  ],
  reconcile: closeTestRoute,
};

async function closeTestRoute({ namespace, name: uid }: Key, context: TestRouteContext): Promise<Action> {
  const { caches, client, conn, webhooks } = context;
  const listening = caches.runs.byIndex(LISTENING, namespace).find(({ metadata }) => metadata.uid === uid);
  if (listening && isNew(listening)) return done();
  const route = testRouteOf(caches, namespace, uid);
  const project = projectOf(caches, namespace);
  const taken = project === undefined ? undefined : await takeListening(conn, project, uid);
  if (taken && isUnavailable(taken)) throw unreachable(taken);
  // The garbage collector may have deleted the route of a deleted run before.
  if (!route || verificationIn(route.spec)) await webhooks.drop(namespace, uid);
  if (!route) return done();
  const { name } = route.metadata;
  const preconditions = { ...(route.metadata.uid !== undefined && { uid: route.metadata.uid }) };
  await client.delete(webhookRoutes, { namespace, name }, { preconditions });
  return done();
}
