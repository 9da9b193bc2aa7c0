/**
 * Rights that the operator needs only when something happens: to tell people of it, to hand the token of an
 * account to runners, and to mark the credential of a bot.
 */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { connectionOf } from '../../../api/provider.ts';
import { events, secrets, type PolicyRule } from '../../../kube/resource.ts';
import { credentials } from '../../../operator/shared/resources.ts';
import { hashOf } from '../../../store/oauth/states.ts';
import {
  startOperatorHarness,
  SYSTEM,
  type OperatorHarness,
} from '../../support/operator/operatorHarness.ts';
import { pollUntil, pollUntilPasses } from '../../support/time/poll.ts';
import { openPollProject } from '../../support/operator/pollProject.ts';
import { clusterRoles, isAllowed } from '../../support/cluster/users.ts';

const ROLE = { name: 'windlass-operator' };
const USER = `system:serviceaccount:${SYSTEM}:windlass-operator`;
const SOON = { timeoutMs: 25_000, everyMs: 50 };

let harness: OperatorHarness;
let granted: PolicyRule[];

beforeAll(async () => {
  harness = await startOperatorHarness();
  ({ rules: granted } = await harness.client.get(clusterRoles, ROLE));
});
afterEach(async () => {
  await harness.stopOperator();
  await setRules(granted);
});
afterAll(() => harness?.stop());

function setRules(rules: PolicyRule[]): Promise<unknown> {
  return harness.client.patch(clusterRoles, ROLE, { rules }, { type: 'merge' });
}

/** Starts the operator without the rules that fit, and waits until they are gone. */
async function startWithout(fits: (rule: PolicyRule) => boolean): Promise<void> {
  const missing = granted.filter(fits);
  expect(missing).toHaveLength(1);
  await setRules(granted.filter((rule) => !fits(rule)));
  const isGone = async (rule: PolicyRule) =>
    !(await isAllowed(harness.client, { user: USER, namespace: 'default' }, rule));
  for (const rule of missing) await pollUntil('the right being gone', () => isGone(rule), SOON);
  harness.log.entries.length = 0;
  harness.startOperator();
}

/** What the operator has logged of errors, with the words before them. */
function complaints(): string {
  const lines = harness.log.entries.map(
    ({ message, fields }) => `${message}: ${(fields as { err?: Error }).err?.message}`,
  );
  return lines.join('\n');
}

test('without the right to create events the log says which one could not be told, and all else goes on', async () => {
  await startWithout(({ resources, verbs }) => resources.includes('events') && verbs.includes('create'));
  const project = await openPollProject(harness);
  await project.apply();
  await pollUntil('the trigger', () => project.state(), SOON);
  await project.poll({ baselineLost: 'The mails are numbered again.' });
  const lack = /writing an Event failed: .* cannot create resource "events"/;
  await pollUntil('the lack in the log', () => lack.test(complaints()), SOON);
  await project.waitFor({ type: 'TriggerHealthy', status: 'True' });
  await setRules(granted);
  await project.poll({ baselineLost: 'The mails are numbered once more.' });
  // With another route the operator reads the state at once.
  await project.apply({ steps: [{ id: 'done', skill: { name: 'set', parameters: { values: '1' } } }] });
  const told = async () =>
    (await harness.client.list(events, { namespace: project.namespace })).items.filter(
      ({ reason }) => reason === 'BaselineLost',
    );
  const expected = [{ reason: 'BaselineLost', note: 'The mails are numbered once more.' }];
  await pollUntilPasses(
    'the next one being told',
    async () => expect(await told()).toMatchObject(expected),
    SOON,
  );
});

test('without the right to patch Secrets with tokens the log says so, and runners get the token when it is there', async () => {
  const { namespace } = await harness.createProject();
  const oauth2 = {
    authorizationURL: 'https://id.example.com/authorize',
    tokenURL: 'https://id.example.com/token',
    clientID: 'windlass',
  };
  const metadata = { namespace, name: 'mailbox' };
  const { uid = '' } = (await harness.client.create(credentials, { metadata, spec: { oauth2 } })).metadata;
  // As an operator leaves it that is ended right after somebody has connected the account.
  const grant = {
    connection: hashOf(connectionOf(oauth2)),
    accessToken: 'of the account',
    obtainedAt: Date.now(),
    expiresAt: Date.now() + 3_600_000,
    scopes: [],
  };
  const grants = { namespace, name: 'windlass-refresh-tokens' };
  await harness.client.create(secrets, { metadata: grants, data: { [uid]: btoa(JSON.stringify(grant)) } });
  await startWithout(({ resourceNames = [] }) => resourceNames.includes('windlass-tokens'));
  const lack = /reconcile failed: .*windlass-tokens.* cannot patch resource "secrets"/;
  await pollUntil('the lack in the log', () => lack.test(complaints()), SOON);
  await setRules(granted);
  const token = async () =>
    (await harness.client.find(secrets, { namespace, name: 'windlass-tokens' }))?.data?.['mailbox'];
  await pollUntilPasses('the token', async () => expect(await token()).toBe(btoa('of the account')), SOON);
});

test('without the right to patch credentials a bot is not registered, which its workflow says, and it is when it is there', async () => {
  const { namespace } = await harness.createProject();
  const ours = { apiVersion: 'windlass.dev/v1alpha1' };
  const objects = [
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'bot' },
      stringData: { token: '1234:AAH-of-the-bot' },
    },
    {
      ...ours,
      kind: 'Credential',
      metadata: { name: 'bot' },
      spec: { bot: { tokenRef: { name: 'bot', key: 'token' } } },
    },
    {
      ...ours,
      kind: 'Workflow',
      metadata: { name: 'answers' },
      spec: { active: true, nodes: [{ id: 'trigger', bot: { credential: 'bot' } }] },
    },
  ];
  await startWithout(
    ({ resources, verbs }) => resources.join() === 'credentials' && verbs.join() === 'patch',
  );
  await harness.apply(namespace, objects.map((each) => JSON.stringify(each)).join('\n---\n'));
  const expected = { type: 'TriggerHealthy', status: 'False', reason: 'Unauthorized' };
  const { status } = await harness.waitFor(namespace, 'answers', expected);
  const said = status?.conditions.find(({ type }) => type === 'TriggerHealthy')?.message;
  expect(said).toContain('cannot patch resource "credentials"');
  await setRules(granted);
  await harness.waitFor(namespace, 'answers', {
    type: 'TriggerHealthy',
    status: 'True',
    reason: 'Registered',
  });
});
