/** The workflows that are under fire, and the requests that start them. */
import { stringify } from 'yaml';
import { SKILL_NAMES } from '../../nodes/register.ts';
import { COUNT_PATH, type EffectKind } from './effects.ts';
import type { Target } from './sender.ts';

/** `host:port` of each sink, as the workflows' steps reach it. */
export type SinkHosts = { mail: string; model: string; http: string };

type Kind = {
  workflow: string;
  nodes: (hosts: SinkHosts) => object[];
  /** One for each step that does something outside. */
  effects: readonly EffectKind[];
};

const trigger = { id: 'trigger', webhook: { path: 'in' } };
/** Nobody learns from a 504 whether the run is done: no run of a busy machine takes as long. */
const answering = { id: 'trigger', webhook: { path: 'in', replyTimeout: '60s' } };
const event = "{{ $('trigger').data_content.event }}";

const post = (id: string, url: string, rest: object = {}): object => ({
  id,
  skill: { name: 'http_request', parameters: { method: 'POST', url, body: { event } } },
  ...rest,
});

/** A step that is counted, and that nobody may do again. */
const counted = (id: string, { http }: SinkHosts): object =>
  post(id, `http://${http}${COUNT_PATH}`, { effect: 'AtMostOnce' });

/**
 * An agent and a mail; a synchronous answer; a call; a chain that does nothing outside; two steps that
 * are counted, and an answer with the name of the run that did the first of them.
 */
const KINDS: readonly Kind[] = [
  {
    workflow: 'mail',
    effects: ['model', 'mail'],
    nodes: () => [
      trigger,
      {
        id: 'agent',
        agent: { credential: 'model', model: 'demo', prompt: `Thank the customer of ${event}` },
      },
      {
        id: 'mail',
        skill: {
          name: 'send_email',
          credential: 'mail',
          parameters: {
            to: 'customer@example.com',
            subject: `Thank you for ${event}`,
            body: "{{ $('agent').text_content }}",
          },
        },
      },
    ],
  },
  {
    workflow: 'reply',
    effects: [],
    nodes: () => [answering, { id: 'reply', response: { body: { event } } }],
  },
  {
    workflow: 'call',
    effects: ['http'],
    nodes: ({ http }) => [trigger, post('call', `http://${http}/call`)],
  },
  {
    workflow: 'chain',
    effects: [],
    nodes: () => [
      trigger,
      {
        id: 'set',
        skill: { name: 'set', parameters: { values: { event: 'nodes.trigger.data_content.event' } } },
      },
      {
        id: 'again',
        skill: { name: 'set', parameters: { values: { event: 'nodes.set.data_content.event' } } },
      },
    ],
  },
  {
    workflow: 'count',
    effects: ['count', 'count'],
    nodes: (hosts) => [
      answering,
      counted('first', hosts),
      counted('second', hosts),
      { id: 'answer', response: { body: { event, run: "{{ $('first').data_content.body.run }}" } } },
    ],
  },
];

/** Pairs of steps of which the second begins when the first has ended. */
export const ORDERS: readonly (readonly [string, string])[] = [
  ['agent', 'mail'],
  ['first', 'second'],
];

const ANYWHERE: SinkHosts = { mail: '', model: '', http: '' };

/** Those of which this version has all skills. */
export const WORKFLOWS: readonly Kind[] = KINDS.filter(({ nodes }) =>
  nodes(ANYWHERE).every(
    (node) => !('skill' in node) || SKILL_NAMES.includes((node.skill as { name: string }).name),
  ),
);

/** The workflow of a refusal is none: nothing may ever be counted there. */
const REFUSED = 'refused';

/**
 * What is sent to the public address, one after the other. Every twentieth request deserves a refusal.
 * `order`: the workflows that the others start; default: one after the other.
 */
export function targetsOf(
  publicURL: string,
  project: string,
  order: readonly string[] = WORKFLOWS.map(({ workflow }) => workflow),
): Target[] {
  const url = (workflow: string) => `${publicURL}/webhook/${project}.${workflow}/in`;
  const good = order.map(
    (workflow): Target => ({
      workflow,
      outgoing: (id) => ({
        url: url(workflow),
        headers: { 'idempotency-key': id },
        body: JSON.stringify({ event: id, items: [{ name: 'lamp', quantity: 2 }] }),
      }),
    }),
  );
  const bad = (refusal: number, workflow: string, text: (id: string) => string): Target => ({
    workflow: REFUSED,
    refusal,
    outgoing: (id) => ({ url: url(workflow), headers: { 'idempotency-key': id }, body: text(id) }),
  });
  const refused = [
    bad(400, 'mail', (id) => `{"event": "${id}", `),
    bad(404, 'nobody', (id) => JSON.stringify({ event: id })),
    bad(422, 'mail', (id) => `{"event": "${id}", "number": 1e400}`),
  ];
  return refused.flatMap((target) => [...Array.from({ length: 19 }, (_, index) => nth(good, index)), target]);
}

function nth(targets: readonly Target[], index: number): Target {
  const target = targets[index % targets.length];
  if (!target) throw new Error('there are no workflows');
  return target;
}

/** What the project needs, to be applied in it. */
export function projectManifest(hosts: SinkHosts): string {
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'accounts' },
    stringData: { 'api-key': 'any', password: 'any' },
  };
  const credential = (name: string, spec: object) => ({
    apiVersion: 'windlass.dev/v1alpha1',
    kind: 'Credential',
    metadata: { name },
    spec,
  });
  const model = { baseURL: `http://${hosts.model}/v1`, apiKeyRef: { name: 'accounts', key: 'api-key' } };
  const [host, port] = hosts.mail.split(':');
  const mail = { host, port: Number(port), tls: 'None', from: 'shop@example.com' };
  const objects = [
    secret,
    credential('model', { openai: model }),
    credential('mail', { smtp: mail }),
    ...WORKFLOWS.map(({ workflow, nodes }) => ({
      apiVersion: 'windlass.dev/v1alpha1',
      kind: 'Workflow',
      metadata: { name: workflow },
      spec: { active: true, nodes: nodes(hosts), history: { succeeded: 100, failed: 100 } },
    })),
  ];
  return objects.map((object) => stringify(object)).join('---\n');
}
