/** The commands that talk to a cluster, against a real API server. */
import { execFile, spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { credentials, projectSettings, workflowRuns, workflows } from '../../../operator/shared/resources.ts';
import { SHELLS } from '../../../cli/completion/scripts.ts';
import { createClient, type KubeClient } from '../../../kube/client.ts';
import { controllerRevisions, namespaces } from '../../../kube/resource.ts';
import { ANNOTATION } from '../../../api/group.ts';
import { revisionOf } from '../../../api/revision.ts';
import type { RunStatus } from '../../../api/run.ts';
import type { ApiServer } from '../../support/cluster/apiserver.ts';
import { sharedApiServer } from '../../support/cluster/sharedApiServer.ts';
import { createUser, isAllowed, tokenOf, writeKubeconfig } from '../../support/cluster/users.ts';
import { windlass as execute } from '../../support/cli/line.ts';
import { pollUntil } from '../../support/time/poll.ts';

let server: ApiServer;
let admin: KubeClient;

beforeAll(async () => {
  server = await sharedApiServer();
  admin = createClient(server.connection);
  await admin.create(namespaces, { metadata: { name: 'shop' } });
  await admin.create(workflows, {
    metadata: { namespace: 'shop', name: 'orders' },
    spec: {
      active: true,
      nodes: [
        { id: 'start', webhook: { path: 'a' } },
        { id: 'reply', response: {} },
      ],
    },
  });
});

afterAll(async () => {
  await admin?.close();
  await server?.stop();
});

const windlass = (...line: string[]) => execute(line, { kubeconfig: [server.kubeconfigPath] });
const inShop = (...line: string[]) => windlass(...line, '-n', 'shop');

/** As the operator and the recorder write it. */
async function end(name: string, status: RunStatus): Promise<void> {
  const body = { status };
  await admin.patch(workflowRuns, { namespace: 'shop', name }, body, {
    type: 'merge',
    subresource: 'status',
  });
}

async function newRun(spec: object = {}): Promise<string> {
  const metadata = { namespace: 'shop', generateName: 'orders-' };
  const run = await admin.create(workflowRuns, { metadata, spec: { workflow: 'orders', ...spec } });
  return run.metadata.name;
}

const START = '2026-11-26T10:00:00Z';
const FAILED: RunStatus = {
  phase: 'Failed',
  epoch: 1,
  sequence: 1,
  startTime: START,
  completionTime: '2026-11-26T10:00:07Z',
  reason: 'NodeFailed',
  message: 'node reply: Timeout',
  nodes: [
    { id: 'start', phase: 'Succeeded', output: { text_content: 'hi', data_content: { id: 7 } } },
    { id: 'reply', phase: 'Failed', reason: 'Timeout', message: 'after 1 s' },
  ],
};

describe('run', () => {
  test('creates a run with the event of the file, with all digits of its numbers', async () => {
    const file = join(server.logFolder, 'event.json');
    await writeFile(file, '{"id": 12345678901234567890}');
    const { code, stdout } = await inShop('run', 'orders', '--input', file, '--until', 'reply', '-o', 'json');
    const { spec } = JSON.parse(stdout) as { spec: object };
    expect({ code, spec }).toEqual({
      code: 0,
      spec: {
        workflow: 'orders',
        test: true,
        until: 'reply',
        input: {
          text_content: '',
          data_content: { id: expect.any(Number) as number },
          exact: { '/data_content/id': '12345678901234567890' },
        },
      },
    });
  });

  test('--wait shows nodes as they end, and fails with the run', async () => {
    const waiting = inShop('run', 'orders', '--test', '--wait');
    const find = async () => {
      const { items } = await admin.list(workflowRuns, { namespace: 'shop' });
      return items.find(
        ({ spec, status }) => spec.test === true && spec.until === undefined && !status?.phase,
      );
    };
    const run = await pollUntil('the run', find, { timeoutMs: 10_000 });
    await end(run.metadata.name, {
      ...FAILED,
      phase: 'Running',
      sequence: 0,
      nodes: FAILED.nodes?.slice(0, 1),
    });
    await end(run.metadata.name, FAILED);
    const { code, stdout, stderr } = await waiting;
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `run ${run.metadata.name} started\n✓ start\n✗ reply: Timeout: after 1 s\n`,
    });
    expect(stdout).toMatch(/\nrun Failed: NodeFailed: node reply: Timeout\n$/);
  });

  test.each([
    [['run', 'orders', '--mock', 'a=b'], 2, '--mock is for runs of files: add --local'],
    [['run', '--local', 'a.yaml', '--wait'], 2, '--wait is for runs on a cluster: remove --local'],
    [['run', 'orders', 'other'], 2, 'name one workflow of the cluster'],
    [['run', 'none'], 5, 'workflows.windlass.dev "none" not found'],
  ])('%j ends with %i', async (line, code, says) => {
    expect(await inShop(...line)).toEqual({
      code,
      stdout: '',
      stderr: expect.stringContaining(says) as string,
    });
  });
});

describe('a recorded run', () => {
  let name: string;
  beforeAll(async () => {
    name = await newRun();
    await end(name, FAILED);
  });

  test('is in the list, and in that of its phase', async () => {
    const listed = await inShop('runs', 'orders', '--phase', 'Failed');
    expect(listed).toMatchObject({ code: 0, stderr: '' });
    expect(listed.stdout).toMatch(new RegExp(`^NAME +WORKFLOW +PHASE .*\\n(.*\\n)*${name} +orders +Failed`));
    expect((await inShop('runs', '--phase', 'Waiting')).stderr).toBe(
      'there are no recorded runs in namespace shop\n',
    );
    expect((await inShop('runs', 'orders', '-o', 'name')).stdout).toContain(
      `workflowrun.windlass.dev/${name}\n`,
    );
  });

  test('is shown with outputs and reasons', async () => {
    expect((await inShop('get', name)).stdout).toBe(
      `run ${name}: workflow orders, took 7s\n✓ start\n  hi\n  {\n    "id": 7\n  }\n✗ reply: Timeout: after 1 s\nrun Failed: NodeFailed: node reply: Timeout\n`,
    );
  });

  test('is repeated, or continued at its failed node', async () => {
    const specs = [];
    for (const more of [[], ['--from-failed']]) {
      const { stdout } = await inShop('retry', name, '-o', 'json', ...more);
      specs.push((JSON.parse(stdout) as { spec: object }).spec);
    }
    expect(specs).toEqual([
      { workflow: 'orders', retryOf: name },
      { workflow: 'orders', retryOf: name, resume: true },
    ]);
  });

  test('cannot be cancelled', async () => {
    expect(await inShop('cancel', name)).toMatchObject({
      code: 1,
      stderr: `error: run ${name} has ended: Failed\n`,
    });
  });
});

test('a run whose effect is unknown needs a decision, and one that has not ended no retry', async () => {
  const name = await newRun();
  expect(await inShop('retry', name)).toMatchObject({
    code: 1,
    stderr: `error: run ${name} has not ended: it is Pending\n`,
  });
  await end(name, { ...FAILED, nodes: [{ id: 'reply', phase: 'Unknown' }] });
  expect(await inShop('retry', name, '--from-failed')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('the effect of reply') as string,
  });
  const decided = await inShop('retry', name, '--assume-not-done', 'reply', '-o', 'json');
  expect(JSON.parse(decided.stdout)).toMatchObject({
    spec: { resume: true, decisions: [{ node: 'reply', outcome: 'AssumeNotDone' }] },
  });
});

test('cancel --wait ends when the run is cancelled, and one that is deleted is missed', async () => {
  const name = await newRun();
  const cancelling = inShop('cancel', name, '--wait');
  const isRequested = async () => {
    const { spec } = await admin.get(workflowRuns, { namespace: 'shop', name });
    return spec.cancel === true;
  };
  await pollUntil('the cancellation', isRequested, { timeoutMs: 10_000 });
  await end(name, { phase: 'Cancelled', epoch: 1, sequence: 1 });
  expect(await cancelling).toMatchObject({ code: 0, stdout: 'run Cancelled\n' });
  expect((await inShop('cancel', name)).stdout).toBe(`run ${name} is already cancelled\n`);

  const other = await newRun();
  const waiting = inShop('cancel', other, '--wait');
  await pollUntil(
    'the cancellation',
    async () => {
      const { spec } = await admin.get(workflowRuns, { namespace: 'shop', name: other });
      return spec.cancel === true;
    },
    { timeoutMs: 10_000 },
  );
  await admin.delete(workflowRuns, { namespace: 'shop', name: other });
  expect(await waiting).toMatchObject({ code: 5, stderr: expect.stringContaining('was deleted') as string });
});

test('diff shows what has changed in the workflow since the run', async () => {
  const { spec } = await admin.get(workflows, { namespace: 'shop', name: 'orders' });
  const data = revisionOf({ ...spec, timeout: '1h' });
  for (const [name, changed] of [
    ['same', revisionOf(spec)],
    ['older', { ...data, timeoutMs: 7 }],
  ] as const)
    await admin.create(controllerRevisions, {
      metadata: { namespace: 'shop', name },
      revision: 1,
      data: changed,
    });
  const run = await newRun({ revision: 'older' });
  expect(await inShop('diff', run)).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(
      /^--- run .*, revision older\n(.|\n)*\n-timeoutMs: 7\n\+timeoutMs: \d+/,
    ) as string,
  });
  expect(await inShop('diff', await newRun({ revision: 'same' }))).toMatchObject({ code: 0, stdout: '' });
  expect(await inShop('diff', await newRun({ revision: 'gone' }))).toMatchObject({ code: 5 });
  expect(await inShop('diff', await newRun())).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('has not started') as string,
  });
});

test('export prints manifests with their credentials, which lint admits, and names Secrets', async () => {
  const apiKeyRef = { name: 'keys', key: 'llm' };
  await admin.create(credentials, {
    metadata: { namespace: 'shop', name: 'llm' },
    spec: { openai: { apiKeyRef } },
  });
  const agent = { id: 'a', agent: { credential: 'llm', model: 'm', prompt: 'p' } };
  await admin.create(workflows, {
    metadata: { namespace: 'shop', name: 'ask' },
    spec: { active: true, nodes: [{ id: 'start', manual: {} }, agent] },
  });
  const { code, stdout, stderr } = await inShop('export', 'ask');
  expect({ code, stderr }).toEqual({ code: 0, stderr: 'not exported: Secret keys with llm\n' });
  expect(await execute(['lint', '-'], { input: stdout })).toMatchObject({ code: 0 });
  expect((await inShop('export', '-o', 'name')).stdout).toBe(
    'credential.windlass.dev/llm\nworkflow.windlass.dev/ask\nworkflow.windlass.dev/orders\n',
  );
  expect(await inShop('export', 'none')).toMatchObject({ code: 5 });
});

test('status prints what is unhealthy with the command that helps, and fails', async () => {
  const condition = { type: 'Ready', status: 'False', reason: 'SecretMissing', message: 'no Secret keys' };
  const status = { conditions: [{ ...condition, lastTransitionTime: START }] };
  const body = { status };
  await admin.patch(credentials, { namespace: 'shop', name: 'llm' }, body, {
    type: 'merge',
    subresource: 'status',
  });
  const { code, stdout, stderr } = await inShop('status');
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^unhealthy: \d+ findings?; checked \d+ workflows?, \d+ credentials? in namespace shop$/m,
  );
  expect(stdout).toContain(
    'error: shop/credential.windlass.dev/llm: SecretMissing: no Secret keys\n  kubectl create secret generic NAME -n shop\n',
  );
  expect(JSON.parse((await windlass('status', '-A', '-o', 'json')).stdout)).toMatchObject({
    findings: expect.arrayContaining([expect.objectContaining({ reason: 'SecretMissing' })]) as unknown[],
  });
});

test('status prints settings of the project that are not in effect, to users who may read them', async () => {
  const metadata = { namespace: 'shop', name: 'default' };
  await admin.create(projectSettings, { metadata, spec: {} });
  const condition = { type: 'Ready', status: 'False', reason: 'ScalingConflict', message: 'two scalers' };
  const status = { conditions: [{ ...condition, lastTransitionTime: START }] };
  await admin.patch(projectSettings, metadata, { status }, { type: 'merge', subresource: 'status' });
  expect((await inShop('status')).stdout).toContain(
    'error: shop/projectsettings.windlass.dev/default: ScalingConflict: two scalers\n  kubectl get hpa -n shop\n',
  );
  const resources = ['workflows', 'credentials', 'workflowruns'];
  const rule = { apiGroups: ['windlass.dev'], resources, verbs: ['list'] };
  const author = { namespace: 'shop', name: 'author', rules: [rule] };
  const user = await createUser(admin, server.connection, author);
  await user.close();
  const who = { user: 'system:serviceaccount:shop:author', namespace: 'shop' };
  await pollUntil('the right', () => isAllowed(admin, who, rule), { timeoutMs: 10_000 });
  const kubeconfig = await writeKubeconfig(server, 'author', await tokenOf(admin, 'shop', 'author'));
  const { stdout, stderr } = await windlass('status', '-n', 'shop', '--kubeconfig', kubeconfig);
  expect(stderr).toContain('workflows, ');
  expect(stdout).not.toContain('projectsettings');
  await admin.delete(projectSettings, metadata);
});

test('check requests a check, and says how it ended', async () => {
  const checking = inShop('check', 'llm');
  const requested = async () => {
    const { metadata } = await admin.get(credentials, { namespace: 'shop', name: 'llm' });
    return metadata.annotations?.[ANNOTATION.check];
  };
  const check = await pollUntil('the request', requested, { timeoutMs: 10_000 });
  const condition = { type: 'Ready', status: 'True', reason: 'Ready', message: 'it works' };
  const status = { check, conditions: [{ ...condition, lastTransitionTime: START }] };
  await admin.patch(
    credentials,
    { namespace: 'shop', name: 'llm' },
    { status },
    { type: 'merge', subresource: 'status' },
  );
  expect(await checking).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/\nllm +True +Ready +it works\n$/) as string,
  });
  expect(await inShop('check', 'llm', '--timeout', '0.1')).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/\nllm +Unknown +NotChecked/) as string,
  });
});

test('doctor finds kinds and rights of a cluster without an installation, and writes a bundle', async () => {
  const file = join(server.logFolder, 'support.json');
  const { code, stdout } = await inShop('doctor', '--bundle', file);
  expect(code).toBe(1);
  expect(stdout).toMatch(
    /✓ api-server: .*\n✓ definitions: .*\n✓ rights: .*\n✗ installation: namespace windlass-system/,
  );
  expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({
    checks: expect.arrayContaining([expect.objectContaining({ name: 'installation' })]) as unknown[],
    workflows: expect.arrayContaining([expect.objectContaining({ name: 'orders' })]) as unknown[],
  });
  expect(await inShop('doctor', '--bundle', '/nowhere/support.json')).toMatchObject({ code: 3 });
});

test.each([
  ['connect', 'llm', 1, 'credential llm is not of kind oauth2'],
  ['connect', 'none', 5, 'not found'],
])('%s %s ends with %i', async (command, name, code, says) => {
  expect(await inShop(command, name)).toMatchObject({
    code,
    stderr: expect.stringContaining(says) as string,
  });
});

test('connect needs a token and a gateway, and says what is missing', async () => {
  const url = 'https://id.example';
  const oauth2 = {
    authorizationURL: `${url}/auth`,
    tokenURL: `${url}/token`,
    clientID: 'windlass',
    clientSecretRef: { name: 'keys', key: 'client' },
  };
  await admin.create(credentials, { metadata: { namespace: 'shop', name: 'sheets' }, spec: { oauth2 } });
  expect(await inShop('connect', 'sheets')).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('has a certificate and no token') as string,
  });
  const rules = [
    { apiGroups: ['windlass.dev'], resources: ['credentials'], verbs: ['get'] },
    { apiGroups: [''], resources: ['pods'], verbs: ['list'] },
  ];
  const user = await createUser(admin, server.connection, { namespace: 'shop', name: 'ada', rules });
  await user.close();
  const ada = { user: 'system:serviceaccount:shop:ada', namespace: 'shop' };
  for (const rule of rules)
    await pollUntil('the right', () => isAllowed(admin, ada, rule), { timeoutMs: 10_000 });
  const kubeconfig = await writeKubeconfig(server, 'ada', await tokenOf(admin, 'shop', 'ada'));
  const line = ['connect', 'sheets', '-n', 'shop', '--system-namespace', 'shop', '--kubeconfig', kubeconfig];
  expect(await windlass(...line)).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('namespace shop has no ready gateway') as string,
  });
});

test('logs prints the nodes of a run in the order of time, and -f of a run that has ended does not wait', async () => {
  const name = await newRun();
  await end(name, FAILED);
  const { code, stdout } = await inShop('logs', name);
  expect(code).toBe(0);
  expect(stdout).toMatch(/✓ start\n.* ✗ reply: Timeout: after 1 s\n10:00:07.000 run Failed: NodeFailed/);
  expect((await inShop('logs', name, '-f')).code).toBe(1);
});

test('logs -f follows the record where the gateway cannot be asked', async () => {
  const name = await newRun();
  const { promise: isFollowing, resolve: onMessage } = Promise.withResolvers<unknown>();
  const kubeconfig = [server.kubeconfigPath];
  const following = execute(['logs', name, '-f', '-n', 'shop'], { kubeconfig, onMessage });
  await isFollowing;
  await end(name, { ...FAILED, phase: 'Running', sequence: 0, nodes: FAILED.nodes?.slice(0, 1) });
  await end(name, FAILED);
  const { code, stderr, stdout } = await following;
  expect(code).toBe(1);
  expect(stderr).toMatch(/^live events are not available: .* has a certificate and no token/);
  expect(stdout).toMatch(/\nrun Failed: /);
});

/** A folder with `windlass` and `kubectl-windlass`, as npm makes them. */
async function installed(): Promise<string> {
  const folder = join(server.logFolder, 'bin');
  await mkdir(folder, { recursive: true });
  const main = join(import.meta.dirname, '../../../cli/main.ts');
  const script = `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`;
  for (const name of ['windlass', 'kubectl-windlass'])
    await writeFile(join(folder, name), script, { mode: 0o755 });
  return folder;
}

test('kubectl executes it as a plugin', async () => {
  const env = { PATH: `${await installed()}:/usr/bin:/bin`, KUBECONFIG: server.kubeconfigPath };
  const line = ['windlass', 'get', await newRun(), '-n', 'shop', '-o', 'name'];
  const { stdout } = await promisify(execFile)(join(server.binDir, 'kubectl'), line, { env });
  expect(stdout).toMatch(/^workflowrun\.windlass\.dev\/orders-/);
});

test("kubectl completes the plugin's names of the cluster", async () => {
  const folder = await installed();
  const { stdout: script } = await windlass('completion', 'kubectl');
  await writeFile(join(folder, 'kubectl_complete-windlass'), script, { mode: 0o755 });
  const env = { PATH: `${folder}:/usr/bin:/bin`, KUBECONFIG: server.kubeconfigPath };
  const line = ['__complete', 'windlass', 'runs', '-n', 'shop', 'or'];
  const { stdout } = await promisify(execFile)(join(server.binDir, 'kubectl'), line, { env });
  expect(stdout).toBe('orders\n:0\n');
});

describe('in a terminal, a shell completes names of the cluster:', () => {
  /** How each shell starts without files of the user, and installs the script as docs/cli.md says. */
  const SET_UP = {
    bash: ['bash --norc -i', 'source ~/_windlass'],
    zsh: ['zsh -f -i', 'fpath=(~ $fpath); autoload -Uz compinit; compinit -u -D'],
    fish: ['fish --no-config -i', 'source ~/_windlass'],
  } as const;
  /** After Tab it goes to the start of the line: the line is printed and not executed. */
  const KEYS = 'windlass runs -n shop or\t\u0001echo \nexit\n';

  test.each(SHELLS)('%s', async (shell) => {
    const home = join(server.logFolder, `home-${shell}`);
    await mkdir(home);
    await writeFile(join(home, '_windlass'), (await windlass('completion', shell)).stdout);
    const path = `${await installed()}:/usr/bin:/bin`;
    const env = { PATH: path, HOME: home, TERM: 'xterm', KUBECONFIG: server.kubeconfigPath };
    const [command, setUp] = SET_UP[shell];
    const terminal = spawn('script', ['-qec', command, '/dev/null'], { env, cwd: home, timeout: 20_000 });
    terminal.stdin.end(`${setUp}\n${KEYS}`);
    expect(await text(terminal.stdout)).toMatch(/[\r\n]windlass runs -n shop orders *\r\n/);
  });
});

describe('a cluster that cannot be used', () => {
  const kubeconfig = async (name: string, content: object) => {
    const file = join(server.logFolder, name);
    await writeFile(file, stringify(content));
    return file;
  };
  const withServer = (address: string, user: object = {}) =>
    kubeconfig('other', {
      'current-context': 'prod',
      contexts: [{ name: 'prod', context: { cluster: 'prod', user: 'me' } }],
      clusters: [{ name: 'prod', cluster: { server: address, 'certificate-authority': server.caFile } }],
      users: [{ name: 'me', user }],
    });

  test('is named, if the context or the kubeconfig does not exist', async () => {
    expect(await windlass('runs', '--context', 'nope')).toMatchObject({
      code: 4,
      stderr: expect.stringMatching(/has no context "nope": choose one of \w+/) as string,
    });
    expect(await windlass('runs', '--kubeconfig', '/nowhere/config')).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('/nowhere/config does not exist') as string,
    });
  });

  test('because it does not answer', async () => {
    const file = await withServer('https://127.0.0.1:1');
    expect(await windlass('runs', '--kubeconfig', file)).toMatchObject({
      code: 4,
      stderr:
        'error: the API server https://127.0.0.1:1 of context prod does not answer (ECONNREFUSED): check that the cluster runs, and that this is the right context\n',
    });
  });

  test('because the token is not accepted', async () => {
    const file = await withServer(server.url, { token: 'expired' });
    expect(await windlass('runs', '--kubeconfig', file)).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('does not accept your token or certificate') as string,
    });
  });

  test('because a right is missing', async () => {
    const user = await createUser(admin, server.connection, { namespace: 'shop', name: 'guest', rules: [] });
    await user.close();
    const file = await writeKubeconfig(server, 'guest', await tokenOf(admin, 'shop', 'guest'));
    expect(await windlass('runs', '-n', 'shop', '--kubeconfig', file)).toMatchObject({
      code: 4,
      stderr: expect.stringMatching(
        /context guest lacks a right: .*cannot list resource "workflowruns"/,
      ) as string,
    });
  });
});
