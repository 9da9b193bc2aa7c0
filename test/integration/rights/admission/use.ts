/**
 * Who may use the credentials that a workflow names, as a real API server decides it with the chart's policy.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KubeClient } from '../../../../kube/client.ts';
import type { PolicyRule, Resource } from '../../../../kube/resource.ts';
import { workflowRuns, workflows as typed } from '../../../../operator/shared/resources.ts';
import { pollUntil } from '../../../support/time/poll.ts';
import { createUser } from '../../../support/cluster/users.ts';
import { draft, NAMESPACE, outcomeOf, own, type AdmissionHarness, type Spec } from './harness.ts';

/** Untyped, since what is tried need not be complete. */
const workflows: Resource = typed;
const runs: Resource = workflowRuns;
const write = own(['workflows'], ['create', 'get', 'patch', 'update']);
const use = (names?: string[]) => own(['credentials'], ['use'], names);

const RIGHTS = {
  'without-use': [write],
  'user-of-mail': [write, use(['mail'])],
  'user-of-all': [write, use()],
  status: [own(['workflows/status'], ['patch'])],
} satisfies Record<string, PolicyRule[]>;
type User = keyof typeof RIGHTS;

type Node = Record<string, unknown> & { id: string };
const agent = (id: string, credential: string, prompt = 'Hello'): Node => ({
  id,
  agent: { credential, model: 'm', prompt },
});
const START: Node = { id: 'start', manual: {} };
const chain = (...nodes: Node[]): Spec => ({ nodes: [START, ...nodes] });

/** A workflow for each place at which a node can name a credential, by that place. */
const PLACES: Record<string, (credential: string) => Spec> = {
  'mail.credential': (credential) => ({ nodes: [{ id: 'start', mail: { credential } }] }),
  'spreadsheet.credential': (credential) => ({
    nodes: [{ id: 'start', spreadsheet: { credential, spreadsheetId: 'a', sheet: 'A' } }],
  }),
  'fileStorage.credential': (credential) => ({
    nodes: [{ id: 'start', fileStorage: { credential, folderId: 'a' } }],
  }),
  'bot.credential': (credential) => ({ nodes: [{ id: 'start', bot: { credential } }] }),
  'agent.credential': (credential) => chain(agent('ask', credential)),
  'agent.fallback[].credential': (credential) =>
    chain({
      id: 'ask',
      agent: { credential: 'mail', model: 'm', prompt: 'p', fallback: [{ credential, model: 'm' }] },
    }),
  'agent.tools[].credential': (credential) =>
    chain({
      id: 'ask',
      agent: {
        credential: 'mail',
        model: 'm',
        prompt: 'p',
        tools: [{ skill: 'a' }, { skill: 'b', credential }],
      },
    }),
  'skill.credential': (credential) => chain({ id: 'send', skill: { name: 'send_email', credential } }),
};

const send = (to: string): Node => ({
  id: 'send',
  skill: { name: 'send_email', credential: 'mail', parameters: { to } },
});
const NODES = [START, agent('a', 'mail'), agent('b', 'mail'), send('a@example.com')];
const through = (id: string) => [
  { from: 'start', to: id },
  { from: id, to: 'send' },
];
/** A workflow that is there already. */
const THERE: Spec = { nodes: NODES, edges: through('a') };

/** Changes that lead what it has somewhere else, or that cannot be told from those. */
const CHANGES: [string, Spec][] = [
  ['its edges', { edges: through('b') }],
  ['its edges to a chain', { edges: null }],
  ['a prompt', { nodes: NODES.with(1, agent('a', 'mail', 'Print the database')) }],
  ['a parameter', { nodes: NODES.with(3, send('evil@example.com')) }],
  [
    'its test data',
    { nodes: NODES.with(0, { id: 'start', manual: { testData: { to: 'evil@example.com' } } }) },
  ],
  ['its history', { history: { succeeded: 1 } }],
  ['its state together with its timeout', { active: true, timeout: '5m' }],
];

/** Defines the tests. The set-up of the file that calls it comes first. */
export function testUse(harness: () => AdmissionHarness): void {
  let users: Record<User, KubeClient>;

  beforeAll(async () => {
    const { admin, server } = harness();
    const made = Object.entries(RIGHTS).map(async ([name, rules]) => {
      const client = await createUser(admin, server.connection, { namespace: NAMESPACE, name, rules });
      return [name, client] as const;
    });
    users = Object.fromEntries(await Promise.all(made)) as typeof users;
    const refused = async () => (await create('without-use', chain(agent('ask', 'mail')))).startsWith('403');
    await pollUntil('the policy in effect', refused, { timeoutMs: 20_000, everyMs: 50 });
  });
  afterAll(() => Promise.all(Object.values(users).map((client) => client.close())));

  const create = (user: User, spec: Spec): Promise<string> =>
    outcomeOf(users[user].create(workflows, draft(spec)));
  const patch = (user: User, name: string, change: object): Promise<string> =>
    outcomeOf(users[user].patch(workflows, { namespace: NAMESPACE, name }, change, { type: 'merge' }));
  const make = async (spec: Spec): Promise<string> =>
    (await harness().admin.create(workflows, draft(spec))).metadata.name;

  test.each(Object.entries(PLACES))('%s asks for the right to use that credential', async (_path, specOf) => {
    expect(await create('user-of-mail', specOf('other'))).toMatch(/^403 .*use credentials\/other/);
    expect(await create('user-of-mail', specOf('mail'))).toBe('allowed');
    expect(await create('user-of-all', specOf('other'))).toBe('allowed');
  });

  test('a refusal names the user, the verb, the credential and the namespace', async () => {
    expect(await create('without-use', chain(agent('ask', 'mail')))).toContain(
      'whoever writes a workflow that names a credential must be allowed to use it: system:serviceaccount:shop:without-use lacks the right to use credentials/mail in namespace shop',
    );
  });

  test('each of several credentials is asked about, also behind names that repeat', async () => {
    const repeated = [agent('a', 'mail'), agent('b', 'mail'), agent('c', 'other'), agent('d', 'mail')];
    expect(await create('user-of-mail', chain(...repeated))).toMatch(/^403 .*credentials\/other/);
  });

  test.each(CHANGES)(
    'changing %s of a workflow asks for the right to use what it names',
    async (_what, spec) => {
      const name = await make(THERE);
      expect(await patch('without-use', name, { spec })).toMatch(/^403 .*use credentials\/mail/);
      expect(await patch('user-of-mail', name, { spec })).toBe('allowed');
    },
  );

  test('labels, the state, the status and applying the same again ask for nothing', async () => {
    const name = await make(THERE);
    expect(await patch('without-use', name, { metadata: { labels: { team: 'a' } } })).toBe('allowed');
    expect(await patch('without-use', name, { spec: { active: true } })).toBe('allowed');
    expect(await patch('without-use', name, { spec: { active: false, suspend: true } })).toBe('allowed');
    expect(await patch('without-use', name, { spec: THERE })).toBe('allowed');
    const { status } = users;
    const url = { metadata: { name, namespace: NAMESPACE }, status: { url: 'https://example.com' } };
    const options = { type: 'merge', subresource: 'status' } as const;
    expect(await outcomeOf(status.patch(workflows, { namespace: NAMESPACE, name }, url, options))).toBe(
      'allowed',
    );
  });

  test('what leaves all credentials out asks for nothing', async () => {
    const name = await make(THERE);
    expect(
      await patch('without-use', name, { spec: { ...chain({ id: 'answer', response: {} }), edges: null } }),
    ).toBe('allowed');
    expect(await create('without-use', chain({ id: 'answer', response: { body: 'a' } }))).toBe('allowed');
  });

  test('a workflow with 100 nodes, 300 edges and 20 credentials passes the limits on cost', async () => {
    const name = await make(large(20));
    expect(await patch('user-of-all', name, { spec: { timeout: '5m' } })).toBe('allowed');
    expect(await patch('without-use', name, { spec: { timeout: '6m' } })).toMatch(/^403 .*use credentials/);
    // And so does a draft of that size in a test run.
    await harness().admin.create(runs, draft({ workflow: 'orders', test: true, draft: large(20) }));
  });

  test('a workflow that names more than 20 credentials is refused, and told what to do', async () => {
    const names = Array.from({ length: 21 }, (_, index) => agent(`n${index}`, `credential-${index}`));
    const answer = await create('user-of-all', chain(...names));
    expect(answer).toContain('can name at most 20 credentials; split it into several workflows');
    expect(await create('user-of-all', chain(...names.slice(1)))).toBe('allowed');
  });
}

/** As many nodes and edges as the schema admits, and tools, which name that many credentials. */
function large(credentials: number): Spec {
  const nameOf = (index: number) => `${'x'.repeat(60)}${index % credentials}`;
  const ids = Array.from({ length: 99 }, (_, index) => `n${index}`);
  const nodes = ids.map((id, index) => {
    const tools = Array.from({ length: 4 }, (_, at) => ({ skill: 'a', credential: nameOf(index + at) }));
    return { id, agent: { credential: nameOf(index), model: 'm', prompt: 'p', tools } };
  });
  const pairs = [1, 2, 3, 4].flatMap((step) =>
    ids.slice(step).map((to, index) => ({ from: ids[index] ?? '', to })),
  );
  return { ...chain(...nodes), edges: [{ from: 'start', to: 'n0' }, ...pairs.slice(0, 299)] };
}
