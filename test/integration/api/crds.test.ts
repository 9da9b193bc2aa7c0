/** What the API server itself refuses, and with which words: the first answer that a person gets to a mistake. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { KubeClient } from '../../../kube/client.ts';
import { createClient } from '../../../kube/client.ts';
import { namespaces } from '../../../kube/resource.ts';
import { workflowRuns } from '../../../operator/resources.ts';
import { startApiServer, type ApiServer } from '../../support/apiserver.ts';
import { installCrds, removeRules } from '../../support/crds.ts';
import { kubectl } from '../../support/kubectl.ts';
import { pollUntil } from '../../support/poll.ts';

const examples = join(import.meta.dirname, '../../../examples');

let server: ApiServer;
let client: KubeClient;
let namespace: string;
let count = 0;

beforeAll(async () => {
  server = await startApiServer();
  client = createClient(server.connection);
  await installCrds(client);
}, 600_000);

afterAll(async () => {
  await client?.close();
  await server?.stop();
});

beforeEach(async () => {
  namespace = `crds-${(count += 1)}`;
  await client.create(namespaces, { metadata: { name: namespace } });
});

/** What kubectl says when it applies the object: its refusal, or that it was created. */
async function apply(kind: string, spec: unknown, name = 'one'): Promise<string> {
  const object = { apiVersion: 'windlass.dev/v1alpha1', kind, metadata: { name }, spec };
  const args = ['-n', namespace, 'apply', '--validate=strict', '-f', '-'];
  return kubectl(server, args, { input: stringify(object) }).catch((error: Error) => error.message);
}

const trigger = { id: 'trigger', webhook: { path: 'orders' } };
const step = (id: string) => ({ id, response: { body: 'ok' } });
const call = (id: string) => ({
  id,
  skill: { name: 'http_request', parameters: { url: 'https://api.example.com' } },
});
const steps = [step('a'), step('b')];
const workflow = (...edges: [from: string, to: string][]) => ({
  nodes: [trigger, ...steps],
  edges: edges.map(([from, to]) => ({ from, to })),
});

test('a workflow with forward edges is admitted, inactive by default, and not ready before the operator has looked', async () => {
  expect(await apply('Workflow', workflow(['trigger', 'a'], ['trigger', 'b'], ['a', 'b']))).toContain(
    'created',
  );
  const shown = await kubectl(server, ['-n', namespace, 'get', 'wlf', 'one', '-o', 'json']);
  expect(JSON.parse(shown)).toMatchObject({
    spec: { active: false },
    status: { conditions: [{ type: 'Ready', status: 'Unknown', reason: 'Pending' }] },
  });
});

test('the largest workflow that is admitted has a hundred nodes and three hundred edges', async () => {
  const ids = Array.from({ length: 99 }, (_, index) => `node_${index}`);
  const pairs = ids.flatMap((from, index) => ids.slice(index + 1, index + 5).map((to) => ({ from, to })));
  const edges = [{ from: 'trigger', to: 'node_0' }, ...pairs].slice(0, 300);
  expect(edges).toHaveLength(300);
  expect(await apply('Workflow', { nodes: [trigger, ...ids.map(step)], edges })).toContain('created');
});

const auth = {
  bearer: { secretRefs: [{ name: 'a', key: 'b' }] },
  github: { secretRefs: [{ name: 'a', key: 'b' }] },
};

const refusedWorkflows: [sentence: string, spec: unknown, says: RegExp][] = [
  ['no trigger', { nodes: steps }, /a workflow needs a trigger: add a node with one of manual, schedule/],
  [
    'two triggers',
    { nodes: [trigger, { id: 'other', manual: {} }] },
    /exactly one trigger, and this one has more: create one workflow for each/,
  ],
  [
    'an edge to nowhere',
    workflow(['trigger', 'c']),
    /edge trigger to c names a node that does not exist, c: /,
  ],
  [
    'an edge from nowhere',
    workflow(['trigger', 'a'], ['c', 'a']),
    /edge c to a names a node that does not exist, c: /,
  ],
  ['an edge into the trigger', workflow(['a', 'trigger']), /edge a to trigger leads into the trigger/],
  ['a backward edge', workflow(['trigger', 'a'], ['b', 'a']), /edge b to a points backward/],
  ['an edge onto itself', workflow(['a', 'a']), /edge a to a points backward/],
  [
    'the same edge twice',
    workflow(['trigger', 'a'], ['trigger', 'a']),
    /edge trigger to a is duplicated: combine the conditions/,
  ],
  [
    'a node with two kinds',
    { nodes: [trigger, { ...step('a'), skill: { name: 'send_email' } }] },
    /node a must have exactly one kind/,
  ],
  ['a node without a kind', { nodes: [trigger, { id: 'a' }] }, /node a must have exactly one kind/],
  [
    'the same id twice',
    { nodes: [trigger, step('a'), step('a')] },
    /node IDs must be unique: two nodes have the ID a/,
  ],
  [
    'an id that no reference can name',
    { nodes: [trigger, step('1-a')] },
    /a node ID must begin with a letter/,
  ],
  [
    'a chain that does not begin with the trigger',
    { nodes: [step('a'), trigger] },
    /the trigger must be the first node/,
  ],
  [
    'a cron expression without its five fields',
    { nodes: [{ id: 't', schedule: { cron: '@hourly' } }] },
    /cron must have five fields/,
  ],
  [
    'a cron minute that does not exist',
    { nodes: [{ id: 't', schedule: { cron: '60 * * * *' } }] },
    /cron must have five fields/,
  ],
  [
    'a weekday that a CronJob refuses',
    { nodes: [{ id: 't', schedule: { cron: '*/5 * * * 7' } }] },
    /cron must have five fields/,
  ],
  [
    'a look at an account each four seconds',
    { nodes: [{ id: 't', mail: { credential: 'a', pollIntervalSeconds: 4 } }] },
    /pollIntervalSeconds.*greater than or equal to 5/,
  ],
  [
    'a path of two segments',
    { nodes: [{ id: 't', webhook: { path: 'a/b' } }] },
    /path must be one URL segment/,
  ],
  [
    'two ways to prove who calls',
    { nodes: [{ id: 't', webhook: { path: 'a', auth } }] },
    /auth must have exactly one of/,
  ],
  [
    'a trigger with the options of a step',
    { nodes: [{ ...trigger, timeout: '5s' }] },
    /node trigger is a trigger and cannot have timeout/,
  ],
  [
    'a response behind a schedule',
    { nodes: [{ id: 't', schedule: { cron: '0 9 * * *' } }, call('a'), step('b')] },
    /spec\.nodes: .*node b: a response node needs a caller, and this trigger has none/,
  ],
  [
    'a response behind a bot',
    { nodes: [{ id: 't', bot: { credential: 'bot' } }, step('a')] },
    /node a: a response node needs a caller, .* send_message to answer a chat/,
  ],
  [
    'a reply that nobody makes',
    { nodes: [{ id: 't', webhook: { path: 'a', replyTimeout: '1m' } }, call('a')] },
    /replyTimeout has no effect without a response node/,
  ],
  [
    'retries of a response',
    { nodes: [trigger, { ...step('a'), retry: { limit: 3 } }] },
    /timeout, retry and effect have no effect on node a: a response node and the skill set call no other system/,
  ],
  [
    'a timeout of the skill set',
    { nodes: [trigger, { id: 'a', skill: { name: 'set' }, timeout: '5s' }] },
    /have no effect on node a/,
  ],
  [
    'retries of code',
    { nodes: [trigger, { id: 'a', code: { source: 'return 1;' }, retry: { limit: 3 } }] },
    /node a cannot have timeout, retry or effect: code calls no other system/,
  ],
  [
    'code that may take two minutes',
    { nodes: [trigger, { id: 'a', code: { source: 'return 1;', timeout: '2m' } }] },
    /must be a duration from 10ms to 60s/,
  ],
  [
    'code with a gigabyte of memory',
    { nodes: [trigger, { id: 'a', code: { source: 'return 1;', memoryMiB: 1024 } }] },
    /memoryMiB: Invalid value: 1024: .* should be less than or equal to 128/,
  ],
  ['code without a source', { nodes: [trigger, { id: 'a', code: {} }] }, /code\.source: Required value/],
  [
    'a policy beyond no limit',
    { ...workflow(['trigger', 'a'], ['a', 'b']), concurrency: { policy: 'Reject' } },
    /policy has no effect without limit/,
  ],
  [
    'a size of attachments whose content is not asked for',
    { nodes: [{ id: 't', mail: { credential: 'imap', maxAttachmentBytes: 1000 } }] },
    /maxAttachmentBytes has no effect unless attachments is Content/,
  ],
  [
    'an unknown field',
    { nodes: [{ id: 't', webhook: { path: 'a', pathe: 'b' } }] },
    /unknown field "spec\.nodes\[0\]\.webhook\.pathe"/,
  ],
];

test.each(refusedWorkflows)(
  'a workflow with %s is refused in words that say what to do',
  async (_sentence, spec, says) => {
    expect(await apply('Workflow', spec)).toMatch(says);
  },
);

const retrying = (backoff: unknown) => ({ nodes: [trigger, { ...call('a'), retry: { limit: 1, backoff } }] });
const verified = (scheme: string, more: unknown) => {
  const secretRefs = [{ name: 'a', key: 'b' }];
  const auth = { [scheme]: { secretRefs, ...(more as object) } };
  return { nodes: [{ id: 't', webhook: { path: 'a', auth } }] };
};

const refusedDurations: [field: string, spec: unknown, says: RegExp][] = [
  [
    'replyTimeout: 10m',
    { nodes: [{ id: 't', webhook: { path: 'a', replyTimeout: '10m' } }, step('a')] },
    /spec\.nodes\[0\]\.webhook\.replyTimeout: .*must be a duration from 1s to 5m, .*such as 30s, 5m or 1h30m/,
  ],
  [
    'replyTimeout: 300001ms',
    { nodes: [{ id: 't', webhook: { path: 'a', replyTimeout: '300001ms' } }, step('a')] },
    /replyTimeout: .*must be a duration from 1s to 5m/,
  ],
  [
    'tolerance: 30d of standardWebhooks',
    verified('standardWebhooks', { tolerance: '30d' }),
    /standardWebhooks\.tolerance: .*from 1s to 1d/,
  ],
  [
    'tolerance: 0s of hmac',
    verified('hmac', { header: 'X-S', timestampHeader: 'X-T', tolerance: '0s' }),
    /hmac\.tolerance: .*from 1s to 1d/,
  ],
  [
    'timeout: 0s of a step',
    { nodes: [trigger, { ...call('a'), timeout: '0s' }] },
    /timeout: .*from 1ms to 24d/,
  ],
  ['timeout: 30d of a step', { nodes: [trigger, { ...call('a'), timeout: '30d' }] }, /from 1ms to 24d/],
  [
    'timeout: 60 of a step',
    { nodes: [trigger, { ...call('a'), timeout: '60' }] },
    /must be a duration from 1ms/,
  ],
  [
    'timeout: 0s of a run',
    { ...workflow(['trigger', 'a']), timeout: '0s' },
    /spec\.timeout: .*from 1s to 365d/,
  ],
  ['timeout: PT1H of a run', { ...workflow(['trigger', 'a']), timeout: 'PT1H' }, /such as 30s, 5m or 1h30m/],
  ['retry.backoff.max: 25d', retrying({ max: '25d' }), /backoff\.max: .*from 0s to 24d/],
  [
    'retry.backoff.initial: 99999999999999999999999d',
    retrying({ initial: '99999999999999999999999d', max: '1h' }),
    /backoff\.initial: .*from 0s to 24d/,
  ],
  [
    'retry.backoff.initial: 5m without max',
    retrying({ initial: '5m' }),
    /backoff: .*initial must not be longer than max \(default 60s\): set max too/,
  ],
  [
    'history.ttl: 11y in days',
    { ...workflow(['trigger', 'a']), history: { ttl: '4015d' } },
    /history\.ttl: .*from 0s to 3650d/,
  ],
  [
    'history.dataTTL: 30d with ttl: 7d',
    { ...workflow(['trigger', 'a']), history: { ttl: '7d', dataTTL: '30d' } },
    /history: .*dataTTL must not be longer than ttl: data is deleted with its run/,
  ],
];

test.each(refusedDurations)('%s is refused, and the message names the bounds', async (_field, spec, says) => {
  expect(await apply('Workflow', spec)).toMatch(says);
});

test('durations at their bounds are admitted, on each of a hundred nodes', async () => {
  const retry = { limit: 1, backoff: { initial: '0s', max: '23d23h59m59s1000ms' } };
  const many = Array.from({ length: 99 }, (_, index) => ({ ...call(`n${index}`), timeout: '1ms', retry }));
  const webhook = { path: 'a', replyTimeout: '4m60s', auth: { none: {} } };
  const history = { ttl: '3650d', dataTTL: '3650d' };
  const spec = { nodes: [{ id: 't', webhook }, ...many.slice(1), step('reply')], timeout: '365d', history };
  expect(await apply('Workflow', spec)).toContain('created');
});

test('a workflow from before the rules can still be activated, and its status be written', async () => {
  const nodes = [
    { id: 't', bot: { credential: 'bot' } },
    { ...step('a'), timeout: '0s' },
  ];
  const old = { nodes, timeout: '0s', history: { ttl: '1h', dataTTL: '2h' } };
  await pollUntil(
    'the API server admitting what it did before',
    async () => {
      await removeRules(client, 'workflows.windlass.dev');
      return /created/.test(await apply('Workflow', old));
    },
    { timeoutMs: 20_000, everyMs: 100 },
  );
  await installCrds(client);
  await pollUntil(
    'the API server refusing it',
    async () => /from 1ms to 24d/.test(await apply('Workflow', old, 'another')),
    { timeoutMs: 20_000, everyMs: 100 },
  );
  const patch = (body: unknown, ...more: string[]) => {
    const args = ['-n', namespace, 'patch', 'wlf', 'one', '--type=merge', '-p', JSON.stringify(body)];
    return kubectl(server, args.concat(more));
  };
  expect(await patch({ spec: { active: true } })).toContain('patched');
  expect(await patch({ status: { id: 'a.one' } }, '--subresource=status')).toContain('patched');
});

test('a workflow whose name is too long for a label is refused', async () => {
  expect(await apply('Workflow', workflow(), 'a'.repeat(64))).toMatch(/at most 63 characters/);
});

test.each(readdirSync(examples))('examples/%s is admitted as it is', async (name) => {
  const args = [
    '-n',
    namespace,
    'apply',
    '--validate=strict',
    '--dry-run=server',
    '-f',
    join(examples, name),
  ];
  expect(await kubectl(server, args)).toMatch(/workflow.windlass.dev\/[a-z-]+ created \(server dry run\)/);
});

const ref = { name: 'mail', key: 'password' };
const smtp = { host: 'mail.example.com', from: 'shop@example.com' };

const refusedCredentials: [sentence: string, spec: unknown, says: RegExp][] = [
  ['no kind', {}, /exactly one kind/],
  ['two kinds', { smtp, openai: { apiKeyRef: ref } }, /exactly one kind/],
  [
    'a user name without a password',
    { smtp: { ...smtp, username: 'ada' } },
    /username and passwordRef belong together/,
  ],
  [
    'two logins for HTTP',
    { http: { bearer: { tokenRef: ref }, query: { name: 'k', valueRef: ref } } },
    /exactly one of basic, bearer/,
  ],
  [
    'a header of the connection',
    { http: { header: { name: 'Content-Length', valueRef: ref } } },
    /the connection sets this header itself/,
  ],
  [
    'a custom provider without addresses',
    { oauth2: { clientID: 'a' } },
    /requires authorizationURL and tokenURL/,
  ],
  [
    'a URL in the place of a host',
    { http: { bearer: { tokenRef: ref }, allowedHosts: ['https://api.example.com/v1'] } },
    /allowedHosts\[0\]: .*an allowed host must not have a path or query: write api.example.com,[^*]*$/,
  ],
  [
    'an entry with an empty name in it',
    { http: { bearer: { tokenRef: ref }, allowedHosts: ['*', '*..'] } },
    /allowedHosts\[1\]: .*an allowed host must be a host name or IP address/,
  ],
  ['a secret in it', { smtp: { ...smtp, password: 'secret' } }, /unknown field "spec\.smtp\.password"/],
];

test.each(refusedCredentials)('a credential with %s is refused', async (_sentence, spec, says) => {
  expect(await apply('Credential', spec)).toMatch(says);
});

test('a credential with hosts in all forms is admitted', async () => {
  const allowedHosts = [
    'a.example',
    'a.example.:8443',
    'http://*.a.example',
    'bücher.example',
    '[::1]:80',
    '*',
  ];
  expect(await apply('Credential', { http: { bearer: { tokenRef: ref }, allowedHosts } })).toContain(
    'created',
  );
});

/** Creates a run, gives it the status, then tries to change it so. What kubectl says to the last one. */
async function patchRun(status: unknown, patch: unknown, subresource = true): Promise<string> {
  await apply('WorkflowRun', { workflow: 'orders' });
  const args = (body: unknown, toStatus: boolean) =>
    ['-n', namespace, 'patch', 'workflowrun', 'one', '--type=merge', '-p', JSON.stringify(body)].concat(
      toStatus ? ['--subresource=status'] : [],
    );
  await kubectl(server, args({ status }, true));
  return kubectl(server, args(patch, subresource)).catch((error: Error) => error.message);
}

const ended = { phase: 'Succeeded', epoch: 5, sequence: 9 };
const running = { phase: 'Running', epoch: 5, sequence: 9 };

const refusedStatuses: [sentence: string, status: unknown, next: unknown, says: RegExp][] = [
  ['another phase after the end', ended, { phase: 'Failed' }, /the run has ended/],
  ['a run that goes on after the end', ended, { phase: 'Running', epoch: 6 }, /the run has ended/],
  ['the end taken away', ended, { phase: null }, /the run has ended/],
  ['no status at all', running, null, /the status of a run cannot be removed/],
  ['an older epoch', running, { epoch: 4, sequence: 20 }, /a newer state of the run is already recorded/],
  [
    'an older sequence of the same epoch',
    running,
    { sequence: 8 },
    /a newer state of the run is already recorded/,
  ],
  ['no epoch', running, { epoch: null }, /a newer state of the run is already recorded/],
];

test.each(refusedStatuses)('%s is refused', async (_sentence, status, next, says) => {
  expect(await patchRun(status, { status: next })).toMatch(says);
});

test.each([
  ['a later sequence', { sequence: 10 }],
  ['a new epoch, which counts anew', { epoch: 6, sequence: 0 }],
  ['the end', { phase: 'Failed', sequence: 10 }],
])('%s of a run that goes on is admitted', async (_sentence, next) => {
  expect(await patchRun(running, { status: next })).toContain('patched');
});

test.each([
  ['its workflow', { workflow: 'other' }, /the workflow of a run cannot be changed/],
  ['whether it is a test', { test: true }, /test of a run cannot be changed/],
  ['its revision', { revision: 'orders-1' }, /the revision of a run cannot be changed/],
  ['its input', { input: { data_content: 1 } }, /the input of a run cannot be changed/],
  ['what started it', { trigger: { type: 'webhook' } }, /the trigger of a run cannot be changed/],
  ['what it repeats', { retryOf: 'zero' }, /retryOf of a run cannot be changed/],
  ['how far it goes', { until: 'a' }, /until of a run cannot be changed/],
  ['who requested it', { requestedBy: 'ada' }, /requestedBy of a run cannot be changed/],
])('a run cannot change %s', async (_sentence, spec, says) => {
  expect(await patchRun(running, { spec }, false)).toMatch(says);
});

test('only a test run goes no further than to a node', async () => {
  const spec = { workflow: 'orders', until: 'agent_1' };
  expect(await apply('WorkflowRun', spec)).toMatch(/until is only for test runs/);
  expect(await apply('WorkflowRun', { ...spec, test: false })).toMatch(/until is only for test runs/);
  expect(await apply('WorkflowRun', { ...spec, test: true })).toContain('created');
});

test('a run can be cancelled, and not be brought back', async () => {
  expect(await patchRun(running, { spec: { cancel: true } }, false)).toContain('patched');
  expect(await patchRun(running, { spec: { cancel: false } }, false)).toMatch(
    /a cancelled run stays cancelled/,
  );
});

test('what was kept in an input is compared as a whole, also where the schema says nothing', async () => {
  const input = { data_content: { deep: [{ a: 1 }] } };
  await apply('WorkflowRun', { workflow: 'orders', input });
  expect(await apply('WorkflowRun', { workflow: 'orders', input, cancel: true })).toContain('configured');
  const other = { data_content: { deep: [{ a: 2 }] } };
  expect(await apply('WorkflowRun', { workflow: 'orders', input: other })).toMatch(
    /the input of a run cannot/,
  );
});

test('the output of a node is kept as it is: null, nested lists, keys that look like something else', async () => {
  await apply('WorkflowRun', { workflow: 'orders' });
  const data = { none: null, list: [[1, 2], {}], 'a.b/c': { on: true } };
  const outputs = [{ text_content: '', data_content: data }, { data_content: null }];
  const nodes = outputs.map((output) => ({ id: 'a', phase: 'Succeeded' as const, output }));
  const metadata = { namespace, name: 'one' };
  await client.apply(workflowRuns, { metadata, status: { nodes } }, { subresource: 'status' });
  const kept = await client.get(workflowRuns, metadata);
  expect(kept.status?.nodes?.map(({ output }) => output)).toEqual(outputs);
});

const limited = (requests: object, limits: object) => ({ runners: { resources: { requests, limits } } });

test.each<[sentence: string, spec: unknown, says: RegExp]>([
  ['no runners', { runners: { replicas: 0 } }, /replicas.* should be greater than or equal to 1/],
  [
    'a toleration of nothing',
    { runners: { tolerations: [{ operator: 'Equal' }] } },
    /must have the operator Exists/,
  ],
  [
    'more than its limit',
    limited({ cpu: '2', memory: '1Gi' }, { cpu: '1500m', memory: '512Mi' }),
    /requests.cpu must not be more than limits.cpu[^]*requests.memory must not be more than limits.memory/,
  ],
  [
    'more disk than its limit',
    limited({ 'ephemeral-storage': '2Gi' }, { 'ephemeral-storage': '1Gi' }),
    /requests.ephemeral-storage must not be more than limits.ephemeral-storage/,
  ],
  [
    'a value that no label has',
    { runners: { nodeSelector: { pool: 'a b' } } },
    /nodeSelector.pool: .*should match/,
  ],
  [
    'a value that is too long',
    { runners: { nodeSelector: { pool: 'a'.repeat(64) } } },
    /nodeSelector.pool: Too long/,
  ],
  [
    'a taint that no node has',
    { runners: { tolerations: [{ key: 'a b', operator: 'Exists' }] } },
    /tolerations\[0\].key: .*should match/,
  ],
  ['no room for a runner', limited({}, { memory: '64Mi' }), /limits.memory must be at least 128Mi/],
  [
    'a timeout that ends every run',
    { workflowDefaults: { timeout: '0s' } },
    /timeout: .*must be a duration from 1s to 365d/,
  ],
  [
    'a history without an end',
    { workflowDefaults: { history: { ttl: '100000d' } } },
    /ttl: .*must be a duration from 0s to 3650d/,
  ],
  [
    'pods of another namespace',
    {
      runners: {
        affinity: {
          podAntiAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              { topologyKey: 'kubernetes.io/hostname', namespaceSelector: {} },
            ],
          },
        },
      },
    },
    /unknown field .*namespaceSelector/,
  ],
  ['a field of pods', { runners: { hostNetwork: true } }, /unknown field "spec.runners.hostNetwork"/],
])('project settings with %s are refused at apply', async (_sentence, spec, says) => {
  expect(await apply('ProjectSettings', spec, 'default')).toMatch(says);
});

test('a namespace has one ProjectSettings, of a fixed name', async () => {
  expect(await apply('ProjectSettings', {})).toContain(
    'the ProjectSettings of a namespace must be named "default"',
  );
  expect(await apply('ProjectSettings', {}, 'default')).toContain('created');
  const shown = await kubectl(server, ['-n', namespace, 'get', 'projectsettings', 'default', '-o', 'json']);
  expect(JSON.parse(shown)).toMatchObject({ status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } });
});
