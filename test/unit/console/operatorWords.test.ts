/** What the operator says of workflows, in the words of the console. */
import { expect, test } from 'vitest';
import type { WorkflowNode } from '../../../api/workflow.ts';
import { activationOf } from '../../../console/editor/activation/activation.ts';
import { isWithoutCredential, operatorWords } from '../../../console/workflows/operatorWords.ts';
import { credentialProblems } from '../../../operator/credential/problems.ts';
import type { CredentialRef } from '../../../operator/shared/credentialRefs.ts';
import { conditionsOf } from '../../../operator/workflow/conditions/conditions.ts';
import { validate } from '../../../operator/workflow/validate.ts';
import { agent, good, mail, spec, webhook } from '../../support/operator/workflowSpecs.ts';

const withoutAccount: WorkflowNode = { id: 'mail', skill: { name: 'send_email', parameters: good } };
const tools = [{ skill: 'send_email', modelMaySet: { to: '*' } }];
const withTool: WorkflowNode = {
  id: 'ask',
  agent: { credential: 'llm', model: 'small', prompt: 'Hi', tools },
};
const stop: WorkflowNode = { id: 'stop', fail: { reason: 'OutOfStock', message: 'sold out' } };

test.each([
  [
    'an empty group',
    spec([webhook, { id: 'each', group: {} }]),
    /^node each: the group has no nodes: add the first one$/,
  ],
  [
    'a skill without a credential',
    spec([webhook, withoutAccount]),
    /^node mail: skill: choose a credential for Send email \(SMTP\)/,
  ],
  [
    'a tool without a credential',
    spec([webhook, withTool]),
    /^node ask: agent\.tools\[0\]: choose a credential for Send email \(SMTP\)/,
  ],
  [
    'a step that no edge leads to',
    spec([webhook, agent('Hi'), mail(good)], [{ from: 'trigger', to: 'mail' }]),
    /^node agent_1: no connection leads to it, so it would never run: add a connection to it, or remove it$/,
  ],
  [
    'an edge from a fail node',
    spec([webhook, stop, agent('Hi')]),
    /: remove the connection, or list the connections of the workflow$/,
  ],
])('%s is told in the words of the console', (_what, invalid, words) => {
  const told = validate(invalid).map(({ message }) => operatorWords(message));
  expect(told).toContainEqual(expect.stringMatching(words));
});

test.each([withoutAccount, withTool])('the console finds that a credential is missing', (node) => {
  const messages = validate(spec([webhook, node])).map(({ message }) => message);
  expect(messages.filter(isWithoutCredential)).toHaveLength(1);
});

const at = { apiVersion: 'windlass.dev/v1alpha1', kind: 'Credential', metadata: { name: 'api' } } as const;
const ref: CredentialRef = { node: 'get', name: 'api', kinds: ['http', 'oauth2'] };
const imap = { ...at, spec: { imap: { host: 'h', username: 'u', passwordRef: { name: 's', key: 'k' } } } };
const account = {
  ...at,
  spec: { oauth2: { authorizationURL: 'https://a', tokenURL: 'https://a', clientID: 'c' } },
};

test.each([
  [
    ref,
    undefined,
    /^node get: Credential api does not exist in this project\. Create it or choose another one$/,
  ],
  [ref, imap, /^node get: Credential api is for Read email \(IMAP\): choose one for /],
  [{ ...ref, hostEntry: 'a.example' }, account, /edit it, and add "a\.example" to Allowed hosts$/],
  [ref, account, /edit it, and add the host of the node's url to Allowed hosts$/],
])('the problem of a credential is told in the words of the console (%#)', (named, credential, words) => {
  const told = credentialProblems([named], () => credential).map(({ message }) => operatorWords(message));
  expect(told).toContainEqual(expect.stringMatching(words));
});

test.each([0, 1, 12])(
  'a workflow that is suspended with %i runs does not say how manifests resume it',
  (waitingRuns) => {
    const conditions = conditionsOf(
      {
        generation: 1,
        active: false,
        suspended: true,
        waitingRuns,
        violations: [],
        notes: [],
        credentials: [],
        namesCredentials: false,
        pool: { kind: 'Ready' },
        route: { kind: 'applied', routing: { kind: 'Served', settling: false } },
        serving: '',
      },
      [],
      new Date('2026-01-01T00:00:00Z'),
    );
    const activation = activationOf({
      metadata: { name: 'orders', namespace: 'shop', generation: 1 },
      spec: { active: true, suspend: true, nodes: [] },
      status: { conditions: [...conditions] },
    });
    expect(activation).toMatchObject({ kind: 'suspended' });
    expect(activation.message).toMatch(/^The workflow is suspended: (?!.*spec\.).+\.$/);
  },
);
