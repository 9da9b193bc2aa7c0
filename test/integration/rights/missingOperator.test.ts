/**
 * The operator without rights that the chart gives it: it says which one it lacks, waits, and goes on when it
 * has it.
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { roles, type PolicyRule, type Role } from '../../../kube/resource.ts';
import { credentials, workflows } from '../../../operator/shared/resources.ts';
import { ensureBinaries } from '../../cluster/build.ts';
import { renderChart } from '../../support/cluster/chart.ts';
import { mailWorkflow } from '../../support/operator/mailWorkflow.ts';
import {
  startOperatorHarness,
  SYSTEM,
  WHOLE_POOL,
  type OperatorHarness,
} from '../../support/operator/operatorHarness.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { deleteNamespace } from '../../support/operator/projectState.ts';
import { createProgress } from '../../support/process/progress.ts';
import { clusterRoles, isAllowed } from '../../support/cluster/users.ts';

const READY = { type: 'Ready', status: 'True', reason: 'Serving' };

/** The operator's roles, as the chart has them. */
async function rolesOfChart(): Promise<Role[]> {
  const binDir = await ensureBinaries(createProgress(process.stderr));
  const templates = ['operator-rbac'];
  const text = await renderChart({ binDir, kubeconfigPath: '' }, SYSTEM, { templates });
  const objects = parseAllDocuments(text).map((document) => document.toJS() as Role | null);
  return objects.filter((object): object is Role => object?.rules !== undefined);
}

/**
 * Rights that are used when a person connects an account, a mailbox has lost its place, or a bot is
 * registered (missingSeldom.test.ts), when runners do not start (operator/pools.test.ts), and for an
 * Evaluation (operator/evaluations.test.ts).
 */
const LATER = [
  'create events',
  'patch credentials',
  'patch secrets windlass-tokens windlass-refresh-tokens',
  'get configmaps',
  'list pods',
];

const granted = await rolesOfChart();
const table = granted
  .flatMap((role) => role.rules.map((rule): [string, Role, PolicyRule] => [titleOf(rule), role, rule]))
  .filter(([title]) => !LATER.includes(title));

test('what is used only later is among what is granted', () => {
  const titles = granted.flatMap(({ rules }) => rules.map(titleOf));
  expect(titles).toEqual(expect.arrayContaining(LATER));
});

function titleOf({ verbs, resources, resourceNames = [] }: PolicyRule): string {
  return [verbs.join(', '), resources.join(', '), ...resourceNames].join(' ');
}

let harness: OperatorHarness;
let namespace: string;

beforeAll(async () => {
  harness = await startOperatorHarness({ env: WHOLE_POOL });
});
beforeEach(async () => {
  ({ namespace } = await harness.createProject());
});
afterEach(async () => {
  await harness.stopOperator();
  // The next operator has nothing to do with it.
  await deleteNamespace(harness.client, namespace);
});
afterAll(() => harness?.stop());

async function setRules({ kind, metadata }: Role, rules: PolicyRule[]): Promise<void> {
  const resource = kind === 'Role' ? roles : clusterRoles;
  const { namespace, name } = metadata;
  await harness.client.patch(
    resource,
    { ...(namespace !== undefined && { namespace }), name },
    { rules },
    { type: 'merge' },
  );
}

// Its run fails at once, since it names a revision that does not exist: that is a status to write.
const MANIFEST = mailWorkflow({ verifies: true, run: { revision: 'none' } });

/** All that the operator says: in its log as an administrator reads it, and in conditions. */
async function said(): Promise<string> {
  const messageOf = (fields: object): string => {
    const { err, error } = fields as { err?: Error; error?: string };
    return err?.message ?? error ?? '';
  };
  const logged = harness.log.entries
    .filter(({ level }) => level === 'warn' || level === 'error')
    .map(({ fields }) => messageOf(fields));
  const ref = { namespace, name: 'orders' };
  const objects = [await harness.client.get(workflows, ref), await harness.client.get(credentials, ref)];
  const conditions = objects.flatMap(({ status }) => status?.conditions ?? []);
  return [...logged, ...conditions.map(({ message }) => message)].join('\n');
}

/** Whether one of the rule's rights is named as lacking, with its verb and its resource. */
function names(text: string, { verbs, resources }: PolicyRule): boolean {
  return resources.some((resource) =>
    verbs.some(
      (verb) =>
        text.includes(`cannot ${verb} resource "${resource}"`) ||
        text.includes(`Resources:["${resource}"], Verbs:["${verb}"`),
    ),
  );
}

const USER = `system:serviceaccount:${SYSTEM}:windlass-operator`;

/** Gives the operator all its rights but these, and waits until these are gone. */
async function takeAway(...missing: PolicyRule[]): Promise<void> {
  await Promise.all(
    granted.map((role) =>
      setRules(
        role,
        role.rules.filter((rule) => !missing.includes(rule)),
      ),
    ),
  );
  await Promise.all(missing.map(untilGone));
}

async function untilGone(rule: PolicyRule): Promise<void> {
  const place = granted.find(({ rules }) => rules.includes(rule))?.metadata.namespace ?? namespace;
  const isGone = async () => !(await isAllowed(harness.client, { user: USER, namespace: place }, rule));
  await pollUntil('the right being gone', isGone, { timeoutMs: 15_000, everyMs: 20 });
}

async function startWithout(...missing: PolicyRule[]): Promise<void> {
  await takeAway(...missing);
  harness.log.entries.length = 0;
  harness.startOperator();
  await harness.apply(namespace, MANIFEST);
}

const warnings = (): number => harness.log.entries.filter(({ level }) => level !== 'info').length;

test.each(table)(
  'without the right to %s it says so, and goes on when it has it',
  async (_title, _role, rule) => {
    await startWithout(rule);
    await pollUntil('the lack being named', async () => names(await said(), rule), {
      timeoutMs: 15_000,
      everyMs: 50,
    });
    expect(warnings()).toBeLessThan(100);
    await takeAway();
    await harness.waitFor(namespace, 'orders', READY, 25_000);
  },
  60_000,
);

/** How many requests the operator has made. */
async function requests(): Promise<number> {
  const lines = (await harness.metrics()).split('\n');
  const counts = lines.filter((line) => line.startsWith('windlass_operator_requests_total{'));
  return counts.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

test.each([0, 1])(
  'without every second right (from number %i) it neither ends nor turns fast',
  async (first) => {
    const missing = table.map(([, , rule]) => rule).filter((_, index) => index % 2 === first);
    await startWithout(...missing);
    await pollUntil('the lack being named', async () => /cannot \w+ resource/.test(await said()), {
      timeoutMs: 15_000,
    });
    const [before, loud, from] = [await requests(), warnings(), performance.now()];
    await pollUntil('three seconds gone', () => performance.now() - from > 3_000, { timeoutMs: 5_000 });
    const [sent, warned] = [(await requests()) - before, warnings() - loud];
    const seconds = (performance.now() - from) / 1_000;
    expect(sent / seconds).toBeLessThan(25);
    // Attempts for each right are repeated ever later, and each one is told.
    expect(warned / seconds).toBeLessThan(missing.length / 2);
    await takeAway();
    await harness.waitFor(namespace, 'orders', READY, 25_000);
  },
  60_000,
);
