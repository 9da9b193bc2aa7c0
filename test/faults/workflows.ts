/** The workflows that are under fire, and the requests that start them. */
import { stringify } from 'yaml';
import { SKILL_NAMES } from '../../nodes/register.ts';
import type { EffectKind } from './effects.ts';
import type { Target } from './sender.ts';
import { SINKS_HOST } from './sinks.ts';

type Kind = { workflow: string; nodes: object[]; effects: readonly EffectKind[] };

const trigger = { id: 'trigger', webhook: { path: 'in' } };
const event = "{{ $('trigger').data_content.event }}";

/** An agent and a mail, a synchronous answer, a call, and a chain that does nothing outside. */
const KINDS: readonly Kind[] = [
  {
    workflow: 'mail',
    effects: ['model', 'mail'],
    nodes: [
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
    nodes: [trigger, { id: 'reply', response: { body: { event } } }],
  },
  {
    workflow: 'call',
    effects: ['http'],
    nodes: [
      trigger,
      {
        id: 'call',
        skill: {
          name: 'http_request',
          parameters: { method: 'POST', url: `http://${SINKS_HOST}:8081/call`, body: { event } },
        },
      },
    ],
  },
  {
    workflow: 'chain',
    effects: [],
    nodes: [
      trigger,
      {
        id: 'first',
        skill: { name: 'set', parameters: { values: { event: 'nodes.trigger.data_content.event' } } },
      },
      {
        id: 'second',
        skill: { name: 'set', parameters: { values: { event: 'nodes.first.data_content.event' } } },
      },
    ],
  },
];

/** Those of which this version has all skills. */
export const WORKFLOWS: readonly Kind[] = KINDS.filter(({ nodes }) =>
  nodes.every((node) => !('skill' in node) || SKILL_NAMES.includes((node.skill as { name: string }).name)),
);

/** The workflow of a refusal is none: nothing may ever be counted there. */
const REFUSED = 'refused';

/** What is sent to the public address, in turn. Every twentieth request deserves a refusal. */
export function targetsOf(publicURL: string, project: string): Target[] {
  const url = (workflow: string) => `${publicURL}/webhook/${project}.${workflow}/in`;
  const good = WORKFLOWS.map(
    ({ workflow }): Target => ({
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
export function projectManifest(): string {
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
  const model = {
    baseURL: `http://${SINKS_HOST}:8080/v1`,
    apiKeyRef: { name: 'accounts', key: 'api-key' },
  };
  const mail = { host: SINKS_HOST, port: 2525, tls: 'None', from: 'shop@example.com' };
  const objects = [
    secret,
    credential('model', { openai: model }),
    credential('mail', { smtp: mail }),
    ...WORKFLOWS.map(({ workflow, nodes }) => ({
      apiVersion: 'windlass.dev/v1alpha1',
      kind: 'Workflow',
      metadata: { name: workflow },
      spec: { active: true, nodes, history: { succeeded: 100, failed: 100 } },
    })),
  ];
  return objects.map((object) => stringify(object)).join('---\n');
}
