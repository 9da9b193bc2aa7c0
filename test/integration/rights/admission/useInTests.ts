/** Who may test a model with a credential, and who may create an Evaluation. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KubeClient } from '../../../../kube/client.ts';
import type { PolicyRule, Resource } from '../../../../kube/resource.ts';
import { evaluations, workflowRuns } from '../../../../operator/shared/resources.ts';
import { pollUntil } from '../../../support/time/poll.ts';
import { createUser } from '../../../support/cluster/users.ts';
import { draft, NAMESPACE, outcomeOf, own, type AdmissionHarness, type Spec } from './harness.ts';

const writeEvaluations = own(['evaluations'], ['create']);
const createRuns = own(['workflowruns'], ['create']);
const execute = own(['workflows/execute'], ['create'], ['orders']);
const writeRuns = [createRuns, execute];
const readCases: PolicyRule = {
  apiGroups: [''],
  resources: ['configmaps'],
  verbs: ['get'],
  resourceNames: ['cases'],
};
const RIGHTS = {
  'evaluator-without-runs': [writeEvaluations, readCases],
  'evaluator-without-execute': [writeEvaluations, createRuns, readCases],
  'evaluator-without-cases': [writeEvaluations, ...writeRuns],
  evaluator: [writeEvaluations, ...writeRuns, readCases],
  'evaluator-with-llm': [writeEvaluations, ...writeRuns, readCases, own(['credentials'], ['use'], ['llm'])],
} satisfies Record<string, PolicyRule[]>;
type User = keyof typeof RIGHTS;

const model = (credential: string) => ({ model: { model: 'm', credential } });
const evaluation = (...variants: Spec[]): Spec => ({
  workflow: 'orders',
  cases: { configMap: { name: 'cases', key: 'a' } },
  ...(variants.length > 0 && { variants }),
});

/** Defines the tests. The set-up of the file that calls it comes first. */
export function testUseInTests(harness: () => AdmissionHarness): void {
  let users: Record<User, KubeClient>;
  const create = (user: User, resource: Resource, spec: Spec): Promise<string> =>
    outcomeOf(users[user].create(resource, draft(spec)));

  beforeAll(async () => {
    const { admin, server } = harness();
    const made = Object.entries(RIGHTS).map(async ([name, rules]) => {
      const client = await createUser(admin, server.connection, { namespace: NAMESPACE, name, rules });
      return [name, client] as const;
    });
    users = Object.fromEntries(await Promise.all(made)) as typeof users;
    const soon = { timeoutMs: 20_000, everyMs: 50 };
    // A user whose roles the API server does not know yet is refused without the policy.
    const lacksRole = (outcome: string) => outcome.includes('cannot create resource');
    for (const user of Object.keys(RIGHTS) as User[])
      for (const [resource, spec] of [
        [evaluations, evaluation()],
        [workflowRuns, { workflow: 'orders', mocks: [] }],
      ] as const)
        if (user !== 'evaluator-without-runs' || resource !== workflowRuns)
          await pollUntil('the roles', async () => !lacksRole(await create(user, resource, spec)), soon);
    const refused = async () =>
      (await create('evaluator-without-runs', evaluations, evaluation())).startsWith('403');
    await pollUntil('the policy in effect', refused, soon);
  });
  afterAll(() => Promise.all(Object.values(users).map((client) => client.close())));

  test('an Evaluation asks for the rights to create its runs, to execute its workflow and to read its cases', async () => {
    expect(await create('evaluator-without-runs', evaluations, evaluation())).toMatch(
      /^403 .*create workflowruns/,
    );
    expect(await create('evaluator-without-cases', evaluations, evaluation())).toMatch(
      /^403 .*get configmaps\/cases/,
    );
    expect(await create('evaluator-without-execute', evaluations, evaluation())).toMatch(
      /^403 .*workflows\/execute for orders/,
    );
    expect(await create('evaluator', evaluations, evaluation())).toBe('allowed');
  });

  test('the model of each variant asks for the right to use its credential', async () => {
    const variants = ['llm', 'other'].map((name) => ({ name, ...model(name) }));
    expect(await create('evaluator', evaluations, evaluation(...variants.slice(0, 1)))).toMatch(
      /^403 .*credentials\/llm/,
    );
    expect(await create('evaluator-with-llm', evaluations, evaluation(...variants))).toMatch(
      /^403 .*credentials\/other/,
    );
    expect(await create('evaluator-with-llm', evaluations, evaluation(...variants.slice(0, 1)))).toBe(
      'allowed',
    );
  });

  test('the model of a test run asks for the right to use its credential', async () => {
    const run = (credential: string) => ({ workflow: 'orders', test: true, ...model(credential) });
    expect(await create('evaluator-with-llm', workflowRuns, run('other'))).toMatch(
      /^403 .*credentials\/other/,
    );
    expect(await create('evaluator-with-llm', workflowRuns, run('llm'))).toBe('allowed');
  });

  test('mocks and another model are refused for a live run', async () => {
    for (const part of [{ mocks: [] }, { model: { model: 'm' } }])
      expect(await create('evaluator', workflowRuns, { workflow: 'orders', ...part })).toContain(
        'mocks and model are only for test runs',
      );
  });
}
