/**
 * docs/gitops.md: what kstatus and Argo CD make of every state of a workflow and a credential, with the
 * conditions that the operator writes, by the library of kstatus and in the interpreter of Argo CD; how
 * kustomize renames what objects name.
 */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { API_VERSION } from '../../api/group.ts';
import type { Reason } from '../../api/conditions.ts';
import { checkObject } from '../../cli/schema/object.ts';
import { setCondition } from '../../kube/conditions.ts';
import type { Condition, ConditionStatus, KubeObject } from '../../kube/resource.ts';
import { withStalled } from '../../operator/credential/conditions.ts';
import { conditionsOf } from '../../operator/workflow/conditions/conditions.ts';
import type { Facts } from '../../operator/workflow/conditions/facts.ts';
import { ensureBinaries } from '../cluster/build.ts';
import { CHART } from '../support/cluster/chart.ts';
import { runCommand } from '../support/process/command.ts';
import { makeFolder } from '../support/process/folder.ts';
import { ensureGitopsJudge, judge } from '../support/cluster/gitopsJudge.ts';
import { createProgress } from '../support/process/progress.ts';

const now = new Date('2026-01-02T03:04:05Z');
const docs = join(import.meta.dirname, '../../docs');
const GENERATION = 3;

let page: string;
let program: string;

beforeAll(async () => {
  page = await readFile(join(docs, 'gitops.md'), 'utf8');
  program = await ensureGitopsJudge(createProgress(process.stderr));
}, 600_000);

const good: Facts = {
  generation: GENERATION,
  active: true,
  suspended: false,
  waitingRuns: 0,
  violations: [],
  notes: [],
  credentials: [],
  namesCredentials: true,
  pool: { kind: 'Ready' },
  route: { kind: 'applied', routing: { kind: 'Served', settling: false } },
  serving: '',
};
const inactive = { active: false };
const rules = { cron: '0 9 * * *', timeZone: 'UTC', latestSeconds: 300 };
const refused = { kind: 'refused', message: '', retryAfterMs: 1, rules } as const;
const placed = { kind: 'placed', cronJob: 'a', rules } as const;
const credential = (reason: Facts['credentials'][number]['reason'], further: object = {}) => ({
  credentials: [{ reason, message: '', isKnown: true, ...further }],
});
const poll = (status: ConditionStatus, reason: Reason): Partial<Facts> => ({
  poll: { status, reason, message: '' },
});

const WORKFLOWS: [state: string, facts: Partial<Facts>][] = [
  ['active, and everything is in effect', {}],
  ['switched off, and served nowhere', inactive],
  [
    'switched off, with a credential of the wrong kind',
    { ...inactive, ...credential('WrongCredentialKind', { needsChange: true }) },
  ],
  ['suspended', { ...inactive, suspended: true }],
  [
    'switched off, with a missing credential and no runner',
    { ...inactive, ...credential('CredentialMissing'), pool: { kind: 'Starting' } },
  ],
  [
    'invalid, such as by an unknown skill',
    { violations: [{ reason: 'UnknownSkill', message: '' }], route: { kind: 'invalid' } },
  ],
  [
    'invalid, such as by an unknown skill, and switched off',
    { ...inactive, violations: [{ reason: 'UnknownSkill', message: '' }], route: { kind: 'invalid' } },
  ],
  [
    'invalid, such as by an unknown skill, and the revision before still serves',
    { violations: [{ reason: 'UnknownSkill', message: '' }], route: { kind: 'invalid', keeps: 'a' } },
  ],
  ['a credential is missing', credential('CredentialMissing')],
  [
    'a credential is not ready: its Secret or key is missing, it is refused, unreachable or not connected',
    credential('CredentialNotReady'),
  ],
  [
    'a credential is not ready, and its manifest must change',
    credential('CredentialNotReady', { needsChange: true }),
  ],
  ['a credential is being checked', credential('CredentialNotReady', { isKnown: false })],
  ['an account lacks a right', credential('MissingScope')],
  ['a credential is of the wrong kind', credential('WrongCredentialKind', { needsChange: true })],
  [
    'an account names no host, and `http_request` uses it',
    credential('NoAllowedHosts', { needsChange: true }),
  ],
  ['the Secret that verifies callers is missing', { unverifiable: { reason: 'SecretMissing', message: '' } }],
  ['a key that verifies callers is missing', { unverifiable: { reason: 'KeyMissing', message: '' } }],
  ['a key that verifies callers is of no use', { unverifiable: { reason: 'KeyUnusable', message: '' } }],
  ['another workflow has the bot', { unserved: { reason: 'BotTaken', message: '' } }],
  ['the runners sleep or wake', { pool: { kind: 'Asleep', isWaking: false } }],
  ['runners are starting', { pool: { kind: 'Starting' } }],
  [
    'a quota, a limit range or a policy refuses the pods of runners',
    { pool: { kind: 'Blocked', reason: 'PodsRefused', message: '' } },
  ],
  [
    'the pods of runners do not become ready',
    { pool: { kind: 'Blocked', reason: 'PodsNotReady', message: '' } },
  ],
  [
    'the operator lacks a right',
    { pool: { kind: 'Refused', reason: 'Unauthorized', message: '', hasRunner: false } },
  ],
  [
    'the API server refuses an object of the runner pool',
    { pool: { kind: 'Refused', reason: 'PoolInvalid', message: '', hasRunner: false } },
  ],
  [
    'gateways are taking over the spec',
    { route: { kind: 'applied', routing: { kind: 'Lagging', replicas: ['a'], ms: 0 } } },
  ],
  ['no gateway is ready', { route: { kind: 'applied', routing: { kind: 'NoGateway' } } }],
  ['the run store is away', { route: { kind: 'store-unavailable' } }],
  ['a foreign ControllerRevision is in the way', { route: { kind: 'name-taken', message: '' } }],
  ['the schedule cannot be used', { schedule: { ...refused, reason: 'InvalidSchedule' } }],
  ['a quota refuses the CronJob', { schedule: { ...refused, reason: 'QuotaExceeded' } }],
  ['the API server refuses the CronJob', { schedule: { ...refused, reason: 'ScheduleRefused' } }],
  ['the pods of the schedule fail', { schedule: { ...placed, failing: { since: 0, from: 0 } } }],
  ['the trigger was not polled yet', poll('Unknown', 'Pending')],
  ['the account of the trigger refuses', poll('False', 'Rejected')],
  ['the account of the trigger cannot be reached', poll('False', 'Unreachable')],
];

const CREDENTIALS: [status: ConditionStatus, reason: Reason][] = [
  ['True', 'Checked'],
  ['True', 'Complete'],
  ['True', 'Unused'],
  ['True', 'Connected'],
  ['True', 'Expiring'],
  ['True', 'MissingScope'],
  ['Unknown', 'NotChecked'],
  ['Unknown', 'Pending'],
  ['Unknown', 'StoreUnavailable'],
  ['False', 'SecretMissing'],
  ['False', 'KeyMissing'],
  ['False', 'NoAllowedHosts'],
  ['False', 'Rejected'],
  ['False', 'Unreachable'],
  ['False', 'Expired'],
  ['False', 'MissingScope'],
  ['False', 'NotConnected'],
  ['False', 'Unauthorized'],
];

type Judged = { object: KubeObject & { status?: { conditions: readonly Condition[] } }; words: string };

function workflowIn(words: string, facts: Partial<Facts>): Judged {
  const { active, suspended } = { ...good, ...facts };
  const spec = { active: active || suspended, ...(suspended && { suspend: true }) };
  return { words, object: objectOf('Workflow', spec, conditionsOf({ ...good, ...facts }, [], now)) };
}

function credentialIn([status, reason]: (typeof CREDENTIALS)[number]): Judged {
  const ready = { type: 'Ready', status, reason, message: '', observedGeneration: GENERATION };
  return { words: '', object: objectOf('Credential', {}, withStalled(setCondition([], ready, now), now)) };
}

function objectOf(kind: string, spec: object, conditions: readonly Condition[]) {
  const metadata = { name: 'a', namespace: 'shop', generation: GENERATION };
  const status = { observedGeneration: GENERATION, conditions };
  return { apiVersion: API_VERSION, kind, metadata, spec, status };
}

/** The rows of a table in Markdown, as the tools judge. */
async function rowsOf(judged: Judged[]): Promise<string[]> {
  const judgements = await judge(
    program,
    judged.map(({ object }) => object),
  );
  return judged.map(({ object, words }, at) => {
    const ready = object.status?.conditions.find(({ type }) => type === 'Ready');
    const { kstatus, health } = judgements[at] ?? {};
    const cells = [
      ...(words === '' ? [] : [words]),
      `${ready?.status}`,
      `\`${ready?.reason}\``,
      kstatus,
      health,
    ];
    return `| ${cells.join(' | ')} |`;
  });
}

test('kstatus and Argo CD judge each state of a workflow as docs/gitops.md says', async () => {
  const rows = await rowsOf(WORKFLOWS.map(([words, facts]) => workflowIn(words, facts)));
  expect(page).toContain(rows.join('\n'));
});

test('kstatus and Argo CD judge each state of a credential as docs/gitops.md says', async () => {
  const rows = await rowsOf(CREDENTIALS.map(credentialIn));
  expect(page).toContain(rows.join('\n'));
});

test('the states of a credential are those that docs/credentials.md explains', async () => {
  const explained = (await readFile(join(docs, 'credentials.md'), 'utf8')).matchAll(
    /^\| (True|False|Unknown) \| `(\w+)` \|/gm,
  );
  expect([...explained].map(([, status, reason]) => [status, reason])).toEqual(CREDENTIALS);
});

test('an object that the operator has not seen as it is now is in progress, and one that is deleted is terminating', async () => {
  const { object } = workflowIn('', {});
  const metadata = { ...object.metadata, generation: GENERATION + 1 };
  const pending = { type: 'Ready', status: 'Unknown', reason: 'Pending', message: '' };
  const judged = await judge(program, [
    { ...object, metadata },
    { ...object, status: { conditions: [pending] } },
    { ...object, metadata: { ...object.metadata, deletionTimestamp: now.toISOString() } },
  ]);
  expect(judged.map(({ kstatus }) => kstatus)).toEqual(['InProgress', 'InProgress', 'Terminating']);
  expect(judged.slice(0, 2).map(({ health }) => health)).toEqual(['Progressing', 'Progressing']);
});

const CUSTOMIZATIONS = join(docs, 'gitops/resource_customizations/windlass.dev');

type HealthCase = { inputPath: string; healthStatus: { status: string; message: string } };

test.each(['Workflow', 'Credential', 'ProjectSettings'])(
  "the cases of %s in the layout of Argo CD's repository pass",
  async (kind) => {
    const folder = join(CUSTOMIZATIONS, kind);
    const text = await readFile(join(folder, 'health_test.yaml'), 'utf8');
    const { tests } = parse(text) as { tests: HealthCase[] };
    const objects = await Promise.all(
      tests.map(
        async ({ inputPath }) => parse(await readFile(join(folder, inputPath), 'utf8')) as KubeObject,
      ),
    );
    const judged = await judge(program, objects, join(folder, 'health.lua'));
    const healths = judged.map(({ health, message }) => ({ status: health, message }));
    expect(healths).toEqual(tests.map(({ healthStatus }) => healthStatus));
    expect((await readdir(join(folder, 'testdata'))).toSorted()).toEqual(
      tests.map(({ inputPath }) => inputPath.replace('testdata/', '')).toSorted(),
    );
    expect(objects.flatMap((object) => checkObject(object).problems)).toEqual([]);
  },
);

type NameReference = { kind: string; fieldSpecs: { kind: string; path: string }[] };

test('kustomize follows names in each field that names a Secret or a Credential', async () => {
  const text = await readFile(join(docs, 'gitops/kustomize-names.yaml'), 'utf8');
  const { nameReference } = parse(text) as { nameReference: NameReference[] };
  const pathsTo = (kind: string) =>
    nameReference
      .filter((each) => each.kind === kind)
      .flatMap(({ fieldSpecs }) => fieldSpecs.map(({ path }) => path));
  const secrets = [
    ...(await pathsOf('_secrets', 'secretsOfCredentials')).map((path) => `spec/${path}/name`),
    ...(await pathsOf('_secrets', 'secretsOfWebhooks')).map((path) => `spec/nodes/webhook/auth/${path}/name`),
  ];
  expect(pathsTo('Secret')).toEqual([...secrets, 'spec/nodes/chat/tokenRefs/name']);
  const credentials = await pathsOf('_credentials', 'credentialsOfNodes');
  const ofTests = ['spec/model/credential', 'spec/variants/model/credential'];
  expect(pathsTo('Credential')).toEqual([...credentials.map((path) => `spec/nodes/${path}`), ...ofTests]);
});

/** The fields that the chart's admission policies know, which are generated from the schemas. */
async function pathsOf(file: string, list: string): Promise<string[]> {
  const template = await readFile(join(CHART, `templates/${file}.tpl`), 'utf8');
  const [, paths = ''] = new RegExp(`define "windlass.${list}" -}}\n([^{]*)\n`).exec(template) ?? [];
  return paths.split('\n').map((path) => path.replaceAll('[]', '').replaceAll('.', '/'));
}

/** An example of that section of the page, by its position there. */
function exampleOf(section: string, position = 0): string {
  const [, text = ''] = page.split(`\n## ${section}\n`);
  return Array.from(text.matchAll(/```\w+\n([^]*?)```/g))[position]?.[1] ?? '';
}

const named = (name: string) => ({ apiVersion: API_VERSION, kind: 'Workflow', metadata: { name } });

/** A workflow that names another one as a child and as its error workflow. */
const callerOf = (workflow: string) => ({
  ...named('caller'),
  spec: { nodes: [{ id: 'call', workflow: { name: workflow } }], onFailure: { workflow } },
});

const WORKFLOW_FILE = stringify({
  apiVersion: API_VERSION,
  kind: 'Workflow',
  metadata: { name: 'orders' },
  spec: {
    nodes: [
      {
        id: 'call',
        webhook: { path: 'orders', auth: { bearer: { secretRefs: [{ name: 'mail', key: 'password' }] } } },
      },
      { id: 'mail', skill: { name: 'send_email', credential: 'mail' } },
    ],
  },
});
const CREDENTIAL_FILE = stringify({
  apiVersion: API_VERSION,
  kind: 'Credential',
  metadata: { name: 'mail' },
  spec: { smtp: { host: 'a', from: 'a@b', username: 'a', passwordRef: { name: 'mail', key: 'password' } } },
});

test('the kustomization of docs/gitops.md renames what workflows and credentials name', async () => {
  const folder = await makeFolder('kustomize');
  try {
    const names = await readFile(join(docs, 'gitops/kustomize-names.yaml'), 'utf8');
    const files = {
      'kustomization.yaml': exampleOf('kustomize'),
      'kustomize-names.yaml': names,
      'workflow.yaml': `${WORKFLOW_FILE}---\n${stringify(callerOf('alarm'))}---\n${stringify(named('alarm'))}`,
      'credential.yaml': CREDENTIAL_FILE,
    };
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder.path, name), text);
    const rendered = await runCommand(join(await binaries(), 'kubectl'), ['kustomize', folder.path]);
    expect(rendered.match(/staging-mail-\w+/g)).toHaveLength(3);
    expect(rendered).toMatch(/credential: staging-mail$/m);
    expect(rendered.match(/(name|workflow): staging-alarm$/gm)?.toSorted()).toEqual([
      'name: staging-alarm',
      'name: staging-alarm',
      'workflow: staging-alarm',
    ]);
  } finally {
    folder.remove();
  }
});

test('a patch of docs/gitops.md changes the nodes that it names, and keeps the others and their order', async () => {
  const folder = await makeFolder('kustomize');
  try {
    const files = {
      'kustomization.yaml': exampleOf('kustomize', 1),
      'kustomize-openapi.json': await readFile(join(docs, 'gitops/kustomize-openapi.json'), 'utf8'),
      'workflow.yaml': WORKFLOW_FILE,
    };
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder.path, name), text);
    const rendered = await runCommand(join(await binaries(), 'kubectl'), ['kustomize', folder.path]);
    expect(parse(rendered)).toMatchObject({
      spec: {
        nodes: [
          { id: 'call', webhook: { path: 'orders' } },
          { id: 'check', code: { source: 'return 1' } },
          {
            id: 'mail',
            skill: { name: 'send_email', credential: 'mail', parameters: { to: 'staging@example.com' } },
          },
        ],
      },
    });
  } finally {
    folder.remove();
  }
});

test('an expression in backquotes comes through Helm as docs/gitops.md says', async () => {
  const folder = await makeFolder('helm');
  try {
    await mkdir(join(folder.path, 'templates'));
    await writeFile(join(folder.path, 'Chart.yaml'), 'apiVersion: v2\nname: a\nversion: 1.0.0\n');
    await writeFile(join(folder.path, 'values.yaml'), 'active: true\n');
    await writeFile(join(folder.path, 'templates/workflow.yaml'), exampleOf('Helm'));
    const rendered = parse(
      await runCommand(join(await binaries(), 'helm'), ['template', 'shop', folder.path]),
    );
    expect(rendered).toMatchObject({
      metadata: { name: 'shop-orders' },
      spec: {
        active: true,
        nodes: [{}, { response: { body: { you_said: "{{ $('call').data_content }}" } } }],
      },
    });
  } finally {
    folder.remove();
  }
});

const binaries = () => ensureBinaries(createProgress(process.stderr));
