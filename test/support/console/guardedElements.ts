/**
 * Adds to a project what it needs so that every button of the console is on a page: a run that waits, an
 * account, a mailbox.
 */
import type { ConsoleSystem } from './consoleSystem.ts';
import { manifestOf } from './filledProject.ts';
import { listen } from '../network/listen.ts';

const object = (kind: string, name: string, spec: object) => ({
  apiVersion: 'windlass.dev/v1alpha1',
  kind,
  metadata: { name },
  spec,
});

/** The run that waits, of the workflow `waits`, until `close`. */
export const WAITING_RUN = 'waits-for-an-answer';

/** Adds them to the project. */
export async function addForRights(
  system: ConsoleSystem,
  project: string,
): Promise<{ close: () => Promise<void> }> {
  const silent = await listen(() => undefined);
  const provider = 'http://127.0.0.1:9';
  const objects = [
    object('Credential', 'sheets', {
      oauth2: {
        authorizationURL: `${provider}/auth`,
        tokenURL: `${provider}/token`,
        scopes: ['openid'],
        clientID: 'windlass',
        clientSecretRef: { name: 'accounts', key: 'model-api-key' },
      },
    }),
    object('Workflow', 'mails', {
      displayName: 'Mails',
      active: true,
      nodes: [{ id: 'trigger', mail: { credential: 'mailbox' } }],
    }),
    object('Workflow', 'waits', {
      displayName: 'Waits',
      nodes: [
        { id: 'trigger', manual: {} },
        {
          id: 'ask',
          timeout: '10m',
          skill: { name: 'http_request', parameters: { method: 'GET', url: silent.url } },
        },
      ],
    }),
    object('WorkflowRun', WAITING_RUN, { workflow: 'waits', test: true }),
  ];
  await system.apply(project, manifestOf(objects));
  return silent;
}
