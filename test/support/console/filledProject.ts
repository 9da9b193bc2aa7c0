/**
 * What a project of the console's tests and screenshots holds: workflows of several kinds, accounts that work
 * and one that does not.
 */
import { stringify } from 'yaml';
import { MAIL_ACCOUNT, type ConsoleSystem } from './consoleSystem.ts';

const API_VERSION = 'windlass.dev/v1alpha1';

/** A manifest. */
export const object = (kind: string, name: string, spec: object, metadata: object = {}) => ({
  apiVersion: API_VERSION,
  kind,
  metadata: { name, ...metadata },
  spec,
});

const ORDER = {
  number: 'A-1001',
  customer: { name: 'Ada', email: 'ada@example.com' },
  items: [
    { name: 'lamp', quantity: 2, price: 19.5 },
    { name: 'compass', quantity: 1, price: 12 },
  ],
};

/** The order of that number, as a shop would send it. */
function orderOf(number: string): object {
  return { ...ORDER, number };
}

/** The accounts: `model`, `mail`, and `lost`, whose Secret is missing. */
export function accountsOf({ model, mail }: Pick<ConsoleSystem, 'model' | 'mail'>): object[] {
  const data = { 'model-api-key': 'demo-key', 'mail-password': MAIL_ACCOUNT.password };
  return [
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'accounts' }, stringData: data },
    object('Credential', 'model', {
      openai: { baseURL: model.baseURL, apiKeyRef: { name: 'accounts', key: 'model-api-key' } },
    }),
    object('Credential', 'mail', {
      smtp: {
        host: '127.0.0.1',
        port: mail.smtpPort,
        tls: 'None',
        username: MAIL_ACCOUNT.username,
        passwordRef: { name: 'accounts', key: 'mail-password' },
        from: 'Orders <orders@example.com>',
      },
    }),
    object('Credential', 'lost', {
      openai: { baseURL: model.baseURL, apiKeyRef: { name: 'not-there', key: 'key' } },
    }),
  ];
}

/**
 * Workflows: one that answers orders, one that always fails, one by schedule, a draft, and one that Argo CD
 * manages.
 */
function workflows(): object[] {
  return [
    object('Workflow', 'order-confirmation', {
      displayName: 'Order confirmation',
      active: true,
      nodes: [
        { id: 'trigger', webhook: { path: 'orders', testData: { text_content: '', data_content: ORDER } } },
        {
          id: 'agent_1',
          displayName: 'Write the confirmation',
          agent: {
            credential: 'model',
            model: 'demo-slow',
            systemPrompt: 'You confirm orders of a small shop.',
            prompt: "Confirm this order to Ada: {{ $('trigger').data_content }}",
          },
        },
        {
          id: 'mail',
          skill: {
            name: 'send_email',
            credential: 'mail',
            parameters: {
              to: "{{ $('trigger').data_content.customer.email }}",
              subject: "Your order {{ $('trigger').data_content.number }}",
              body: "{{ $('agent_1').text_content }}",
            },
          },
        },
        { id: 'reply', response: { status: 201, body: { confirmation: "{{ $('agent_1').text_content }}" } } },
      ],
    }),
    object('Workflow', 'stock-check', {
      displayName: 'Check the stock',
      active: true,
      nodes: [
        { id: 'trigger', webhook: { path: 'stock' } },
        {
          id: 'ask',
          skill: { name: 'http_request', parameters: { method: 'GET', url: 'http://127.0.0.1:9/' } },
        },
      ],
    }),
    object('Workflow', 'nightly-report', {
      displayName: 'Nightly report',
      active: true,
      nodes: [
        { id: 'trigger', schedule: { cron: '0 3 * * 1-5', timeZone: 'Europe/Berlin' } },
        { id: 'count', skill: { name: 'set', parameters: { values: { total: '1 + 1' } } } },
      ],
    }),
    object('Workflow', 'draft', { displayName: 'A draft', nodes: [{ id: 'trigger', manual: {} }] }),
    object(
      'Workflow',
      'from-git',
      { displayName: 'Kept in Git', nodes: [{ id: 'trigger', webhook: { path: 'git' } }] },
      {
        labels: { 'app.kubernetes.io/instance': 'shop' },
        annotations: { 'argocd.argoproj.io/tracking-id': 'shop:windlass.dev/Workflow:shop/from-git' },
      },
    ),
  ];
}

/** A workflow of that many nodes in rows that branch and join. */
export function largeWorkflow(name: string, size: number): object {
  const id = (at: number) => (at === 0 ? 'trigger' : `step_${at}`);
  const nodes = Array.from({ length: size }, (_, at) =>
    at === 0
      ? { id: id(at), manual: {} }
      : { id: id(at), skill: { name: 'set', parameters: { values: { n: String(at) } } } },
  );
  const edges = nodes.slice(1).map((_, at) => ({ from: id(Math.floor(at / 2)), to: id(at + 1) }));
  return object('Workflow', name, { displayName: `${size} nodes`, nodes, edges });
}

/** Manifests as one text for kubectl. */
export function manifestOf(objects: object[]): string {
  return objects.map((each) => stringify(each, { compat: 'yaml-1.1' })).join('---\n');
}

/** Makes the project with all of it, and some runs: orders that succeed, and stock checks that fail. */
export async function fillProject(system: ConsoleSystem, project: string): Promise<void> {
  await system.createProject(project);
  const objects = [...accountsOf(system), ...workflows(), largeWorkflow('large', 100)];
  await system.apply(project, manifestOf(objects));
  const ready = { type: 'Ready', status: 'True' };
  await system.harness.waitFor(project, 'order-confirmation', ready, 90_000);
  await system.harness.waitFor(project, 'stock-check', ready, 90_000);
  const orders = Array.from({ length: 6 }, (_, at) =>
    post(system, `${project}.order-confirmation/orders`, orderOf(`A-${1_001 + at}`)),
  );
  const checks = Array.from({ length: 3 }, (_, at) =>
    post(system, `${project}.stock-check/stock`, { article: at }),
  );
  await Promise.all([...orders, ...checks]);
}

/** Sends an event to a webhook, and gives the status of the answer. */
export async function post(system: ConsoleSystem, path: string, body: object): Promise<number> {
  const answer = await fetch(`${system.gateway.publicURL}/webhook/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  await answer.arrayBuffer();
  return answer.status;
}

/** Adds a workflow of which one run executes, as long as `url` does not answer, and all others wait. */
export async function addQueueing(system: ConsoleSystem, project: string, url: string): Promise<void> {
  const queues = object('Workflow', 'queues', {
    displayName: 'Queues up',
    active: true,
    concurrency: { limit: 1 },
    nodes: [
      { id: 'trigger', webhook: { path: 'q' } },
      { id: 'ask', timeout: '10m', skill: { name: 'http_request', parameters: { method: 'GET', url } } },
    ],
  });
  await system.apply(project, manifestOf([queues]));
  await system.harness.waitFor(project, 'queues', { type: 'Ready', status: 'True' }, 90_000);
}
