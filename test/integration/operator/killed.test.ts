/**
 * An operator that is killed right after its k-th write, for every k: whoever comes after it ends at the same
 * state, and nothing is left over. Writes are those to the API server and those to the run store. Each k has
 * a project of its own; one process of the operator serves all of them, is cut off in each after as many
 * writes as that one's turn is, and is then killed.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { namespaces, secrets } from '../../../kube/resource.ts';
import { credentials, workflowRuns, workflows } from '../../../operator/shared/resources.ts';
import { createRecorder } from '../../../runs/record/recorder.ts';
import { startKubeApiFaults, type KubeApiFaults } from '../../support/cluster/kubeApiFaults.ts';
import { startOperatorProcess } from '../../support/operator/operatorProgram.ts';
import type { Program } from '../../support/process/program.ts';
import {
  startOperatorHarness,
  SYSTEM,
  WHOLE_POOL,
  type OperatorHarness,
} from '../../support/operator/operatorHarness.ts';
import {
  deleteNamespace,
  readEverything,
  stateOf,
  type Project,
} from '../../support/operator/projectState.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { startRedisProxy, type RedisProxy } from '../../support/runStore/redisProxy.ts';
import { writeKubeconfig } from '../../support/cluster/users.ts';
import { createWriteGate } from '../../support/operator/writeGate.ts';

const WITHIN = { timeoutMs: 240_000, everyMs: 1_000 };
const LONG = { timeout: 240_000, interval: 1_000 };
const USERS = 'made-by-hand';
/** How many differences between projects a failure lists. */
const MOST_SHOWN = 20;

const gate = createWriteGate();
let harness: OperatorHarness;
let kube: KubeApiFaults;
let redis: RedisProxy;
let kubeconfigPath: string;
let operator: Program | undefined;
let ending: AbortController;
let recording: Promise<void>[];

// Again for each test: an operator that also serves the projects of the one before takes twice as long.
beforeEach(async () => {
  ending = new AbortController();
  recording = [];
  harness = await startOperatorHarness({ bounded: false });
  kube = await startKubeApiFaults({ server: harness.server.url, ca: harness.connection.ca ?? '', auth: {} });
  const refusal = {
    status: 409,
    body: { kind: 'Status', code: 409, reason: 'Conflict', message: 'cut off' },
  };
  kube.always((request) => !gate.passesKube(request), refusal);
  redis = await startRedisProxy(harness.redis.port, (command) => gate.passesRedis(command));
  const token = (await harness.connection.auth.token?.()) ?? '';
  kubeconfigPath = await writeKubeconfig(
    { ...harness.server, url: kube.connection.server },
    'operator',
    token,
  );
}, 600_000);

afterEach(async () => {
  await operator?.stop('SIGKILL');
  ending.abort();
  await Promise.all(recording);
  await harness?.stop();
  await kube?.stop();
  await redis?.stop();
});

/** Starts it, and again when it ends by itself, as it does when a slow machine costs it its lease. */
function startOperator(): void {
  const place = { pod: 'operator-1', namespace: SYSTEM, env: WHOLE_POOL };
  const started = startOperatorProcess({ kubeconfigPath, redisURL: redis.url, ...place });
  operator = started;
  void started.ended.then((code) => code !== null && operator === started && startOperator());
}

type Edition = { active?: boolean; path?: string; key?: string; credential?: string };

/** A webhook that verifies its callers, and a mail. */
async function apply({ namespace }: Project, edition: Edition = {}): Promise<void> {
  const { active = true, path = 'one', key = 'first', credential = 'smtp' } = edition;
  const auth = { bearer: { secretRefs: [{ name: USERS, key }] } };
  const parameters = { to: 'a@example.com', subject: 's', body: 'b' };
  const nodes = [
    { id: 'trigger', webhook: { path, auth } },
    { id: 'mail', skill: { name: 'send_email', credential, parameters } },
  ];
  await harness.client.apply(workflows, { metadata: { namespace, name: 'one' }, spec: { active, nodes } });
}

async function createProject(): Promise<Project> {
  const project = await harness.createProject();
  const { namespace } = project;
  const data = { first: 'MQ==', second: 'Mg==', password: 'Mw==' };
  for (const name of [USERS, 'smtp', 'other'])
    await harness.client.create(secrets, { metadata: { namespace, name }, data });
  for (const name of ['smtp', 'other']) {
    const passwordRef = { name, key: 'password' };
    const smtp = { host: 'mail.example.com', from: 'a@example.com', username: 'a', passwordRef };
    await harness.client.create(credentials, { metadata: { namespace, name }, spec: { smtp } });
  }
  return project;
}

/** A run that waits: there are no runners. */
async function createRun({ namespace }: Project): Promise<void> {
  const metadata = { namespace, name: 'waiting' };
  await harness.client.create(workflowRuns, { metadata, spec: { workflow: 'one' } });
}

/** Until the end of the tests. */
function record({ namespace, uid }: Project): void {
  const { conn, client: kube, log } = harness;
  recording.push(createRecorder({ conn, kube, project: uid, namespace, log }).run(ending.signal));
}

type Scenario = {
  /** What is there before: nothing, or an active workflow, or one with a run that waits. */
  before?: 'active' | 'waiting';
  act: (project: Project) => Promise<unknown>;
  /** Whether there is somebody who records the ends of runs, as runners do. */
  isRecorded?: boolean;
  /** Whether the state is one that the operator has worked for: it goes on from nothing to that. */
  isReached: (state: string) => boolean;
};

const remove = ({ namespace }: Project) => harness.client.delete(workflows, { namespace, name: 'one' });
/** Whether the workflow says that of its generation. */
const says = (reason: string, generation: number) => (state: string) =>
  state.includes(`"observedGeneration":${generation},"reason":"${reason}","status":"True","type":"Ready"`);
const isServing = says('Serving', 1);
/** A credential of which all is said: it works, or nobody uses it. */
const CHECKED = /^Credential .*"reason":("Checked"|"Unused"),"status":"True","type":"Ready"/gm;
const isSubmitted = (state: string) => /^run:waiting: /m.test(state);

const SCENARIOS = {
  // The operator sets quotas each five seconds, also of a project in which nothing else changes any more.
  activate: {
    act: (project) => apply(project),
    isReached: (state) => isServing(state) && state.includes('"claimQuota"'),
  },
  edit: {
    before: 'waiting',
    act: (project) => apply(project, { path: 'two', key: 'second', credential: 'other' }),
    isReached: (state) => says('Serving', 2)(state) && state.includes('"resourceNames":["other","smtp"]'),
  },
  deactivate: {
    before: 'waiting',
    act: (project) => apply(project, { active: false }),
    isReached: says('Inactive', 2),
  },
  delete: {
    before: 'active',
    act: remove,
    isReached: (state) => !/^(WebhookRoute|Deployment|account)/m.test(state),
  },
  'delete while a run waits': {
    before: 'waiting',
    act: remove,
    isRecorded: true,
    // The run's object goes with its workflow, which owns it; its dedupe key says how the run ended.
    isReached: (state) =>
      !/^(WebhookRoute|WorkflowRun|Deployment|account|run:)/m.test(state) &&
      /^dk:.*"phase":"Cancelled"/m.test(state),
  },
  'delete the namespace': {
    before: 'waiting',
    act: ({ namespace }) => deleteNamespace(harness.client, namespace),
    isReached: (state) => state === '',
  },
} satisfies Record<string, Scenario>;
type ActionName = keyof typeof SCENARIOS;
const scenarioOf = (action: ActionName): Scenario => SCENARIOS[action];

/** Makes a project for each action and brings it to where the action begins. */
async function prepare(actions: readonly ActionName[]): Promise<Project[]> {
  const projects = await all(actions, createProject);
  projects.forEach((project, at) => scenarioOf(actions[at] ?? 'activate').isRecorded && record(project));
  const before = actions.map((action) => scenarioOf(action).before);
  const chosen = (...wanted: Scenario['before'][]) => projects.filter((_, at) => wanted.includes(before[at]));
  await all(chosen('active', 'waiting'), (project) => apply(project));
  await all(chosen('waiting'), createRun);
  await settledStates(projects, (state, at) => {
    const areChecked = state.match(CHECKED)?.length === 2;
    const isThere = before[at] === undefined || isServing(state);
    return areChecked && isThere && (before[at] !== 'waiting' || isSubmitted(state));
  });
  return projects;
}

type Case = { action: ActionName; project: Project; most: number };

const all = <T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> =>
  Promise.all(items.map(work));

async function statesOf(projects: readonly Project[]): Promise<string[][]> {
  const found = await readEverything(harness.client, harness.conn);
  return all(projects, (project) => stateOf(found, harness.conn, project));
}

/**
 * The states of projects, once they are reached and nothing has changed for longer than the operator waits
 * for anything.
 */
async function settledStates(
  projects: readonly Project[],
  isReached: (state: string, at: number) => boolean,
): Promise<string[][]> {
  let before: string | undefined;
  let since = performance.now();
  let left: string[][] = [];
  const settled = async () => {
    const states = await statesOf(projects);
    const text = JSON.stringify(states);
    const open = states.filter((lines, at) => !isReached(lines.join('\n'), at));
    if (text !== before || open.length > 0) since = performance.now();
    before = text;
    left = open;
    return performance.now() - since > 1_500 && states;
  };
  try {
    return await pollUntil('nothing changing any more', settled, WITHIN);
  } catch (error) {
    const said = operator?.log.slice(-5).join('\n');
    const first = left[0]?.map((line) => line.slice(0, 2_000)).join('\n');
    throw new Error(`${left.length} projects are not there yet: ${first}\n${said}`, { cause: error });
  }
}

type WithoutKill = { project: Project; writes: number };

/** Runs each action to its end, without a kill. Returns the project, and how many writes the action took. */
async function runWithoutKill(actions: readonly ActionName[]): Promise<Map<ActionName, WithoutKill>> {
  const projects = await prepare(actions);
  for (const project of projects) gate.arm(project);
  const at = (index: number) => scenarioOf(actions[index] ?? 'activate');
  await all([...projects.entries()], ([index, project]) => at(index).act(project));
  await settledStates(projects, (state, index) => at(index).isReached(state));
  return new Map(
    projects.map((project, index) => {
      const writes = gate.writes(project).length;
      return [actions[index] ?? 'activate', { project, writes }];
    }),
  );
}

type Turn = { what: string; actions: ActionName[] };
const TURNS: Turn[] = [
  { what: 'activated, edited and deactivated', actions: ['activate', 'edit', 'deactivate'] },
  {
    what: 'deleted, alone and with their namespace',
    actions: ['delete', 'delete while a run waits', 'delete the namespace'],
  },
];

test.for(TURNS)(
  'killed after any of its writes while workflows are $what, it is followed by one that comes to the same end',
  { timeout: 900_000 },
  async ({ actions }) => {
    startOperator();
    const withoutKill = await runWithoutKill(actions);
    const withoutKillOf = (action: ActionName) => withoutKill.get(action) as WithoutKill;
    // The parts of the operator work side by side, so that the same action takes a write more or less now and
    // then.
    const numbers = actions.flatMap((action) =>
      Array.from({ length: withoutKillOf(action).writes + 1 }, (_, index) => ({ action, most: index + 1 })),
    );
    const projects = await prepare(numbers.map(({ action }) => action));
    const cases = numbers.map((number, index): Case => ({ ...number, project: projects[index] as Project }));
    for (const { project, most } of cases) gate.arm(project, most);
    await all(cases, ({ action, project }) => scenarioOf(action).act(project));
    // The projects without a kill are read again each time: on a slow machine one may still change after the
    // pause that `settledStates` waits for.
    const differences = async (of: readonly Case[]) => {
      const without = actions.map((action) => withoutKillOf(action).project);
      const states = await statesOf([...without, ...of.map(({ project }) => project)]);
      const endOf = (action: ActionName) => states[actions.indexOf(action)] ?? [];
      const unfinished = actions.filter((action) => !scenarioOf(action).isReached(endOf(action).join('\n')));
      const found = of.flatMap((each, index) =>
        differenceOf(each, endOf(each.action), states[actions.length + index] ?? []),
      );
      return [...unfinished.map((action) => `${action}, without a kill: no longer at its end`), ...found]
        .slice(0, MOST_SHOWN)
        .join('\n');
    };
    const atWork = () => differences(cases.filter(({ project }) => !gate.isCutOff(project)));
    await expect.poll(atWork, LONG).toBe('');
    await operator?.stop('SIGKILL');
    const cutOff = (action: ActionName) =>
      cases.filter((each) => each.action === action && gate.isCutOff(each.project)).length;
    // Where the machine is slow, the operator sees several changes as one, and writes less.
    expect(Math.min(...actions.map(cutOff))).toBeGreaterThan(1);
    gate.open();
    startOperator();
    await expect.poll(() => differences(cases), LONG).toBe('');
    await expectNoOrphans();
    await operator?.stop();
  },
);

/**
 * The run store holds nothing of a project that does not exist; in those that do, all is as it is without a
 * kill.
 */
async function expectNoOrphans(): Promise<void> {
  const { items } = await harness.client.listAll(namespaces);
  const there = new Set(items.map(({ metadata }) => metadata.uid));
  const { keys, accounts } = await readEverything(harness.client, harness.conn);
  expect([...keys.keys(), ...accounts].filter((uid) => !there.has(uid))).toEqual([]);
}

/** What is there and should not be, and the other way round, a line each. */
function differenceOf({ action, most }: Case, wanted: string[], actual: string[]): string[] {
  const missing = wanted.filter((line) => !actual.includes(line));
  const excess = actual.filter((line) => !wanted.includes(line));
  const told = (sign: string) => (line: string) =>
    `${action}, killed after ${most}: ${sign} ${line.slice(0, 150)}`;
  return [...missing.map(told('-')), ...excess.map(told('+'))];
}
