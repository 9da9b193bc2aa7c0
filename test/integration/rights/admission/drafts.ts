/** Who may execute a draft, as a real API server decides it with the chart's policy. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KubeClient } from '../../../../kube/client.ts';
import type { PolicyRule, Resource } from '../../../../kube/resource.ts';
import { workflowRuns as typed } from '../../../../operator/shared/resources.ts';
import { createUser } from '../../../support/cluster/users.ts';
import { pollUntil } from '../../../support/time/poll.ts';
import { draft, NAMESPACE, outcomeOf, own, type AdmissionHarness, type Spec } from './harness.ts';

/** Untyped, since what is tried need not be complete. */
const workflowRuns: Resource = typed;
const execute = [
  own(['workflowruns'], ['create', 'get', 'patch']),
  own(['workflows/execute'], ['create'], ['orders']),
];
const testDrafts = own(['workflowdrafts'], ['test'], ['orders']);
const RIGHTS = {
  'publisher-without-test': [...execute, own(['workflows'], ['create', 'update', 'patch'])],
  tester: [...execute, testDrafts],
  'tester-with-keys': [
    ...execute,
    testDrafts,
    { apiGroups: [''], resources: ['secrets'], resourceNames: ['hooks'], verbs: ['get'] },
  ],
  'tester-of-bills': [...execute, testDrafts, own(['workflows/execute'], ['create'], ['bills'])],
  'tester-with-mail': [...execute, testDrafts, own(['credentials'], ['use'], ['mail'])],
} satisfies Record<string, PolicyRule[]>;
type User = keyof typeof RIGHTS;

const START = { id: 'start', manual: {} };
const mailing = (credential: string): Spec => ({
  nodes: [START, { id: 'send', skill: { name: 'send_email', credential } }],
});
const runOf = (spec: Spec, further: Spec = {}): Spec => ({
  workflow: 'orders',
  test: true,
  draft: spec,
  ...further,
});

/** Defines the tests. The set-up of the file that calls it comes first. */
export function testDraftRuns(harness: () => AdmissionHarness): void {
  let users: Record<User, KubeClient>;
  const create = (user: User, spec: Spec): Promise<string> =>
    outcomeOf(users[user].create(workflowRuns, draft(spec)));

  beforeAll(async () => {
    const { admin, server } = harness();
    const made = Object.entries(RIGHTS).map(async ([name, rules]) => {
      const client = await createUser(admin, server.connection, { namespace: NAMESPACE, name, rules });
      return [name, client] as const;
    });
    users = Object.fromEntries(await Promise.all(made)) as typeof users;
    const refused = async () =>
      /^403 .*test workflowdrafts/.test(await create('publisher-without-test', runOf({ nodes: [START] })));
    await pollUntil('the policy in effect', refused, { timeoutMs: 20_000, everyMs: 50 });
    const isKnown = async () => (await create('tester', runOf({ nodes: [START] }))) === 'allowed';
    await pollUntil('the roles', isKnown, { timeoutMs: 20_000, everyMs: 50 });
  });
  afterAll(() => Promise.all(Object.values(users).map((client) => client.close())));

  test('whoever may test need not be able to publish, nor the other way round', async () => {
    expect(await create('publisher-without-test', runOf({ nodes: [START] }))).toMatch(
      /^403 .*whoever executes a draft must be allowed to test it: \S+ lacks the right to test workflowdrafts\/orders in namespace shop/,
    );
    expect(await create('tester', runOf({ nodes: [START] }))).toBe('allowed');
    expect(await create('tester', { ...runOf({ nodes: [START] }), workflow: 'bills' })).toMatch(/^403 /);
  });

  test('a draft asks for the right to use the credentials that it names', async () => {
    expect(await create('tester', runOf(mailing('mail')))).toMatch(/^403 .*use credentials\/mail/);
    expect(await create('tester-with-mail', runOf(mailing('mail')))).toBe('allowed');
    expect(await create('tester-with-mail', runOf(mailing('other')))).toMatch(
      /^403 .*use credentials\/other/,
    );
  });

  test('a draft asks for the right to execute the workflows that it runs', async () => {
    const running = (...names: string[]) => ({
      nodes: [START, ...names.map((name, index) => ({ id: `run_${index}`, workflow: { name } }))],
    });
    const agent = { credential: 'mail', model: 'm', prompt: 'p', tools: [{ workflow: 'bills' }] };
    const asking = { nodes: [START, { id: 'ask', agent }] };
    const refused =
      /^403 .*whoever tests a draft must be allowed to execute the workflows that it runs: \S+ lacks the right to create workflows\/execute for bills/;
    expect(await create('tester', runOf(running('bills')))).toMatch(refused);
    expect(await create('tester-with-mail', runOf(asking))).toMatch(refused);
    expect(await create('tester-of-bills', runOf(running('bills', 'bills')))).toBe('allowed');
    expect(await create('tester-of-bills', runOf(running('bills', 'others')))).toMatch(
      /^403 .*workflows\/execute for others/,
    );
    const many = Array.from({ length: 11 }, (_, index) => `flow-${index}`);
    expect(await outcomeOf(harness().admin.create(workflowRuns, draft(runOf(running(...many)))))).toMatch(
      /can run at most 10 other workflows/,
    );
  });

  test('a draft that listens for an event asks for the right to read the Secrets that verify its sender', async () => {
    const verifiedBy = (...names: string[]) => ({
      nodes: [
        {
          id: 'start',
          webhook: {
            path: 'new',
            auth: { bearer: { secretRefs: names.map((name) => ({ name, key: 'key' })) } },
          },
        },
      ],
    });
    const listens = { listenFor: '2m' };
    expect(await create('tester', runOf(verifiedBy('hooks'), listens))).toMatch(
      /^403 .*whoever decides which Secret verifies an event must be allowed to read it: \S+ lacks the right to get secrets\/hooks/,
    );
    expect(await create('tester', runOf(verifiedBy('hooks')))).toBe('allowed');
    expect(await create('tester-with-keys', runOf(verifiedBy('hooks'), listens))).toBe('allowed');
    expect(await create('tester-with-keys', runOf(verifiedBy('hooks', 'other'), listens))).toMatch(
      /^403 .*get secrets\/other/,
    );
  });

  test.each<[string, Spec, RegExp]>([
    ['a live run', { listenFor: '2m' }, /listenFor is only for test runs/],
    ['a run with an input', { listenFor: '2m', test: true, input: { data_content: {} } }, /has no other/],
    ['a retry', { listenFor: '2m', test: true, retryOf: 'earlier' }, /has no other/],
    ['a run', { listenFor: '11m', test: true }, /must be a duration from 5s to 10m/],
  ])('%s that listens beyond what is possible is refused', async (_what, spec, problem) => {
    expect(await create('tester', { workflow: 'orders', ...spec })).toMatch(problem);
  });

  test.each<[string, Spec, RegExp]>([
    ['in a live run', runOf({ nodes: [START] }, { test: false }), /draft is only for test runs/],
    [
      'beside a revision',
      runOf({ nodes: [START] }, { revision: 'orders-1' }),
      /draft takes the place of a revision/,
    ],
    ['that is no workflow', runOf({ nodes: [START, START] }), /two nodes have the ID start/],
  ])('a draft %s is refused', async (_what, spec, problem) => {
    expect(await create('tester', spec)).toMatch(problem);
  });

  test('the draft of a run is never another one, and only the operator puts a revision in its place', async () => {
    const { admin } = harness();
    const { metadata } = await admin.create(workflowRuns, draft(runOf(mailing('mail'))));
    const change = (spec: Spec, client = users['tester-with-mail']) => {
      const ref = { namespace: NAMESPACE, name: metadata.name };
      return outcomeOf(client.patch(workflowRuns, ref, { spec }, { type: 'merge' }));
    };
    expect(await change({ draft: { nodes: [START] } })).toMatch(/the draft of a run cannot be changed/);
    expect(await change({ draft: mailing('other') })).toMatch(/^403|cannot be changed/);
    for (const revision of ['orders-1', null])
      expect(await change({ draft: null, revision })).toMatch(
        /^403 .*whoever marks a run as recorded, or replaces its draft, must be allowed to write its status/,
      );
    expect(await change({ cancel: true })).toBe('allowed');
    expect(await change({ draft: null, revision: 'orders-1' }, admin)).toBe('allowed');
    expect(await change({ draft: { nodes: [START] }, revision: null })).toMatch(/cannot be changed/);
  });
}
