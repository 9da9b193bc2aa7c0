/**
 * A workflow that needs every part of the operator: a webhook and a mail, with the account and the Secret
 * that they name.
 */
import { stringify } from 'yaml';

const passwordRef = { name: 'mail', key: 'password' };

export type MailWorkflowOptions = {
  /** Its webhook verifies callers, with the Secret. */
  verifies?: boolean;
  /** The spec of a run of it that is made with it. */
  run?: object;
};

/** Its manifest for kubectl; everything but the Secret is named `orders`. */
export function mailWorkflow({ verifies = false, run }: MailWorkflowOptions): string {
  const of = (kind: string, spec: object) => ({
    apiVersion: 'windlass.dev/v1alpha1',
    kind,
    metadata: { name: 'orders' },
    spec,
  });
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: passwordRef.name },
    stringData: { [passwordRef.key]: 'a' },
  };
  const smtp = { host: 'mail.example.com', from: 'a@example.com', username: 'a', passwordRef };
  const auth = { bearer: { secretRefs: [passwordRef] } };
  const parameters = { to: 'b@example.com', subject: 'Hello', body: 'Hello' };
  const nodes = [
    { id: 'call', webhook: { path: 'orders', ...(verifies && { auth }) } },
    { id: 'mail', skill: { name: 'send_email', credential: 'orders', parameters } },
  ];
  // So that data of a run that has ended is removed, too.
  const history = { dataTTL: '1s' };
  const objects = [secret, of('Credential', { smtp }), of('Workflow', { active: true, nodes, history })];
  if (run) objects.push(of('WorkflowRun', { workflow: 'orders', ...run }));
  return objects.map((object) => stringify(object)).join('---\n');
}
