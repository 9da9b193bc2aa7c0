/**
 * With objects in its own namespace that name something of the victim's. What comes back is all that became
 * of them.
 */
import { isTerminal } from '../../../../api/phase.ts';
import type { Workflow } from '../../../../api/kinds.ts';
import { findCondition, isConditionTrue } from '../../../../kube/conditions.ts';
import { workflowRuns, workflows } from '../../../../operator/shared/resources.ts';
import { pollUntil } from '../../../support/time/poll.ts';
import { ask, callApi } from '../../../support/gateway/rawCalls.ts';
import type { TwoProjects } from '../../../support/rights/twoProjects.ts';
import type { Attempt } from './attempt.ts';

const SOON = { timeoutMs: 40_000, everyMs: 50 };
const REFUSED = /^422 /;
const INVALID = /"status":"False","type":"(Valid|CredentialsReady)"|"phase":"Failed"/;
let made = 0;

type Made = { name: string; refusal?: string };

/**
 * Makes an object as mallory's editor, or says what the API server answered instead. `{run}` and so on are
 * the victim's.
 */
async function make(projects: TwoProjects, kind: string, spec: object, metadata: object = {}): Promise<Made> {
  const { harness, mallory, known, victim } = projects;
  const name = `attempt-${(made += 1)}`;
  const object = { apiVersion: 'windlass.dev/v1alpha1', kind, metadata: { name, ...metadata }, spec };
  const names = { ...known, project: victim.uid };
  const body = JSON.stringify(object).replaceAll(
    /\{(run|revision|workflowUID|project)\}/g,
    (_all, key: 'run' | 'revision' | 'workflowUID' | 'project') => names[key],
  );
  const path = `/apis/windlass.dev/v1alpha1/namespaces/mallory/${kind.toLowerCase()}s`;
  const answer = await callApi(harness.server, { method: 'POST', path, token: mallory.token, body });
  return answer.status === 201 ? { name } : { name, refusal: `${answer.status} ${answer.body}` };
}

const isServed = ({ status }: Workflow): boolean => isConditionTrue(status?.conditions, 'Ready');

/** Whether the operator has nothing more to say of it. */
function isSettled(workflow: Workflow): boolean {
  const { status, metadata } = workflow;
  const isRefused = ['Valid', 'CredentialsReady'].some(
    (type) => findCondition(status?.conditions, type)?.status === 'False',
  );
  return status?.observedGeneration === metadata.generation && (isRefused || isServed(workflow));
}

/**
 * A workflow with this step behind its trigger: what its conditions say, and what comes out where it can be
 * executed.
 */
function workflow(what: string, step: object, refused: RegExp = INVALID): Attempt {
  const attempt = async (projects: TwoProjects): Promise<string> => {
    const nodes = [
      { id: 'trigger', manual: {} },
      { id: 'step', ...step },
    ];
    const { name, refusal } = await make(projects, 'Workflow', { active: true, nodes });
    if (refusal !== undefined) return refusal;
    const { client } = projects.harness;
    const object = await pollUntil(
      `the conditions of ${what}`,
      async () => {
        const found = await client.get(workflows, { namespace: 'mallory', name });
        return isSettled(found) && found;
      },
      SOON,
    );
    const executed = await pollUntil(
      `an answer to a call of ${what}`,
      async () => {
        const answer = await ask(projects.gateway.internalURL, {
          method: 'POST',
          path: `/workflows/mallory.${name}/execute`,
          token: projects.mallory.token,
          headers: { prefer: 'wait=10' },
          body: '{}',
        });
        // The gateway may see a route a moment later than its stand-in that tells the operator of it.
        return (!isServed(object) || !answer.startsWith('404 ')) && answer;
      },
      SOON,
    );
    return `${JSON.stringify(object)}\n${executed}`;
  };
  return { what: `workflow: ${what}`, attempt, refused };
}

const response = (text: string): object => ({ response: { body: { text } } });
const set = (values: string): object => ({ skill: { name: 'set', parameters: { values } } });
const mail = (credential: string): object => ({
  skill: {
    name: 'send_email',
    credential,
    parameters: { to: 'b@example.com', subject: 'Hello', body: 'Hello' },
  },
});
const get = (url: string): object => ({ skill: { name: 'http_request', parameters: { url } } });

const references: Attempt[] = [
  workflow(
    'an expression that names the victim’s node',
    response("{{ $('victim.orders.secret').data_content }}"),
  ),
  workflow('an expression with a path', response("{{ $('victim/orders/secret').data_content }}")),
  workflow('an expression that goes up', response("{{ $('../victim/orders').data_content }}")),
  workflow('an expression on a prototype', response("{{ $('trigger').data_content.__proto__.constructor }}")),
  workflow('an expression on the environment', response('{{ process.env.REDIS_PASSWORD }}')),
  workflow('CEL that names the victim’s node', set("nodes['victim.orders.secret'].data_content")),
  workflow('CEL that names the victim', set('nodes.victim.orders.secret.data_content')),
  workflow('CEL on what is not there', set('secrets.accounts.password')),
  workflow('the victim’s credential by its id', mail('victim.smtp')),
  workflow('the victim’s credential by a path', mail('victim/smtp'), REFUSED),
  workflow('the victim’s credential up the path', mail('../victim/smtp'), REFUSED),
  workflow('the victim’s credential, escaped', mail('victim%2fsmtp'), REFUSED),
  workflow('the victim’s credential in other letters', mail('vіctim.smtp'), REFUSED),
  workflow('the credential ..', mail('..'), REFUSED),
  workflow('the credential of its own that the victim has', mail('smtp')),
  workflow(
    'a request to the gateway’s inner listener',
    get('http://127.0.0.1:8081/workflows/victim.orders/runs'),
  ),
  workflow('a request to the API server', get('https://kubernetes.default.svc/api/v1/secrets')),
  workflow('a request to the run store', get('http://[::1]:6379/')),
];

/** A run: what becomes of it. */
function run(what: string, spec: object, refused: RegExp, metadata: object = {}): Attempt {
  const attempt = async (projects: TwoProjects): Promise<string> => {
    const { name, refusal } = await make(projects, 'WorkflowRun', spec, metadata);
    if (refusal !== undefined) return refusal;
    const { client } = projects.harness;
    const ended = await pollUntil(
      `the end of ${what}`,
      async () => {
        const found = await client.get(workflowRuns, { namespace: 'mallory', name });
        return isTerminal(found.status?.phase) && found;
      },
      SOON,
    );
    return JSON.stringify(ended);
  };
  return { what: `run: ${what}`, attempt, refused };
}

const OWN_LABELS = { 'windlass.dev/workflow': 'orders', 'app.kubernetes.io/managed-by': 'windlass' };

const runs: Attempt[] = [
  run('that repeats the victim’s', { workflow: 'orders', retryOf: '{run}' }, /RunMissing/),
  run('that repeats one up the path', { workflow: 'orders', retryOf: '../victim/{run}' }, REFUSED),
  run('that repeats one of another id', { workflow: 'orders', retryOf: 'victim.{run}' }, /RunMissing/),
  run('of the victim’s revision', { workflow: 'orders', revision: '{revision}' }, /RevisionMissing/),
  run(
    'of a revision up the path',
    { workflow: 'orders', revision: '../../victim/controllerrevisions/{revision}' },
    REFUSED,
  ),
  run('of the revision ..', { workflow: 'orders', revision: '..' }, REFUSED),
  run('of the victim’s workflow by a path', { workflow: 'victim/orders' }, REFUSED),
  // It has one of that name.
  run('of the victim’s workflow by its id', { workflow: 'victim.orders', input: {} }, /"phase":"Succeeded"/),
  run(
    'that says that it was recorded for an event of the victim’s',
    { workflow: 'orders', input: {} },
    /^403 [^]*whoever marks a run as recorded, or replaces its draft, must be allowed to write its status/,
    { annotations: { 'windlass.dev/dedupe': 'x {workflowUID}' } },
  ),
  run(
    'that belongs to the victim’s workflow by its owner and labels',
    { workflow: 'orders', input: {} },
    /"phase":"Succeeded"/,
    {
      labels: { ...OWN_LABELS, 'windlass.dev/workflow': 'victim.orders' },
      ownerReferences: [
        {
          apiVersion: 'windlass.dev/v1alpha1',
          kind: 'Workflow',
          name: 'orders',
          uid: '{workflowUID}',
        },
      ],
    },
  ),
];

/**
 * A Secret by its path, whatever mallory writes into it, then a call of the victim's webhook with what it
 * wrote.
 */
const forgedKeys: Attempt = {
  what: 'Secret: the keys of the victim’s webhook in the Secret of its own project',
  attempt: async ({ harness, mallory, known, gateway }) => {
    const token = 'forged-by-mallory';
    const entry = `${known.workflowUID}.${known.material}`;
    const data = { [entry]: btoa(JSON.stringify([btoa(token)])) };
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'windlass-webhooks', labels: OWN_LABELS },
      data,
    };
    const path = '/api/v1/namespaces/mallory/secrets';
    const body = JSON.stringify(secret);
    const { status } = await callApi(harness.server, { method: 'POST', path, token: mallory.token, body });
    const hook = '/webhook/victim.orders/orders';
    const called = await ask(gateway.publicURL, { method: 'POST', path: hook, token, body: '{}' });
    return `${status}, then ${called}`;
  },
  refused: /^201, then 401 /,
};

const ref = (name: string) => ({ name, key: 'password' });
const openai = (name: string) => ({ openai: { apiKeyRef: ref(name) } });
const hook = (auth: object) => ({
  nodes: [{ id: 'trigger', webhook: { path: 'x', auth } }],
});

function object(what: string, kind: string, spec: object, refused: RegExp): Attempt {
  return {
    what: `${kind}: ${what}`,
    attempt: async (projects) => (await make(projects, kind, spec)).refusal ?? '201',
    refused,
  };
}

const objects: Attempt[] = [
  object('a Secret of another namespace by a path', 'Credential', openai('victim/accounts'), REFUSED),
  object('a Secret up the path', 'Credential', openai('../../victim/secrets/accounts'), REFUSED),
  object(
    'a Secret with a namespace beside its name',
    'Credential',
    { openai: { apiKeyRef: { namespace: 'victim', ...ref('accounts') } } },
    /^(400|422) |^201$/,
  ),
  object(
    'a webhook’s Secret up the path',
    'Workflow',
    hook({ bearer: { secretRefs: [ref('../../victim/secrets/hooks')] } }),
    REFUSED,
  ),
  object(
    'a webhook whose path leads elsewhere',
    'Workflow',
    { nodes: [{ id: 'a', webhook: { path: '../victim.orders/orders' } }] },
    REFUSED,
  ),
];

export const objectAttempts: Attempt[] = [...references, ...runs, forgedKeys, ...objects];
