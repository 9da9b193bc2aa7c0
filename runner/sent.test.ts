/** Which nodes the record shows as sent, and what sensitive nodes withhold. */
import { expect, test } from 'vitest';
import { revisionOf } from '../api/revision.ts';
import type { WorkflowSpec } from '../api/workflow.ts';
import { masked, Secret } from '../nodes/contract/secret.ts';
import {
  fail,
  mail,
  NOW,
  open,
  pass,
  reply,
  revision,
  text,
  webhook,
} from '../test/support/runner/passes.ts';
import { createLoadedSecrets } from './loadedSecrets.ts';
import { planOf } from './plan.ts';
import { noteSent, sentOf } from './sent.ts';
import { succeed } from './transitions.ts';
import { awaitRetry } from './waits.ts';

const to = "{{ $('trigger').data_content.items[0].name }}@example.com";
const referring = mail('m', {
  skill: { name: 'send_email', credential: 'smtp', parameters: { to, subject: 's', body: 'b' } },
});
const specOf = (nodes: object[], spec: object = {}) =>
  revisionOf({ active: true, nodes, ...spec } as unknown as WorkflowSpec);

const shows = (nodes: object[], spec?: object) =>
  [...planOf(specOf(nodes, spec)).steps].flatMap(([id, { sent }]) => (sent ? [id] : []));
const agent = { id: 'a', agent: { credential: 'llm', model: 'm', prompt: '{{ $previous.text_content }}' } };
const call = { id: 'c', workflow: { name: 'other', input: { n: "{{ $('trigger').data_content.n }}" } } };
const shape = {
  id: 's',
  skill: { name: 'set', parameters: { values: { n: 'nodes.trigger.data_content.n' } } },
};

test.each<[string, string[], object[], object?]>([
  ['a step without references', [], [webhook, mail('m')]],
  ['a skill, an agent and a child run', ['m', 'a', 'c'], [webhook, referring, agent, call]],
  ['steps without an effect', [], [webhook, shape, reply('r', '{{ $previous.data_content.n }}')]],
  ['a sensitive step', [], [webhook, { ...referring, sensitive: true }]],
  ['recordData: None', [], [webhook, referring], { recordData: 'None' }],
  ['recordData: Errors', ['m'], [webhook, referring], { recordData: 'Errors' }],
])('what is shown as sent: %s', (_what, ids, nodes, spec) => {
  expect(shows(nodes, spec)).toEqual(ids);
});

/** What the mail of a run has sent when its attempt has ended. */
function sent(nodes: object[], state: Parameters<typeof open>[1] = {}) {
  const memory = open(specOf(nodes), state);
  pass(memory);
  noteSent(memory, memory.root, 'm');
  return memory;
}

test('the parameters are those that the skill got', () => {
  const memory = sent([webhook, referring]);
  succeed(memory, 'm', text('sent'), NOW);
  expect(pass(memory)?.checkpoints).toMatchObject([
    { id: 'm', sent: { parameters: { to: [{ address: 'lamp@example.com' }], subject: 's', body: 'b' } } },
  ]);
});

test('what a sensitive node gave is withheld, and nothing else', () => {
  const withheld = '[withheld: from a sensitive node]';
  const memory = sent([{ ...webhook, sensitive: true }, referring]);
  expect(sentOf(memory, memory.root, 'm')?.parameters).toEqual({ to: withheld, subject: 's', body: 'b' });
});

test('a node that waits for its next attempt keeps what it sent, also in the next runner', () => {
  const memory = sent([webhook, referring]);
  awaitRetry(memory, 'm', { phase: 'Failed', reason: 'Unreachable', message: 'no' }, 60_000);
  const node = pass(memory)?.checkpoints?.find(({ id }) => id === 'm');
  expect(node).toMatchObject({ phase: 'Waiting', sent: { parameters: { subject: 's' } } });
  const next = open(specOf([webhook, referring]), { nodes: node ? [node] : [] });
  expect(sentOf(next, next.root, 'm')).toEqual(node?.sent);
});

test('the nodes of a run show at most 64 KiB', () => {
  const body = 'x'.repeat(8_000);
  const nodes = Array.from({ length: 12 }, (_, index) =>
    mail(`m${index}`, {
      skill: {
        name: 'send_email',
        credential: 'smtp',
        parameters: { to, subject: 's', body },
      },
    }),
  );
  const edges = nodes.map(({ id }) => ({ from: 'trigger', to: id }));
  const memory = open(revision([webhook, ...nodes], edges));
  pass(memory);
  for (const { id } of nodes) noteSent(memory, memory.root, id);
  expect(nodes.filter(({ id }) => memory.root.progress.get(id)?.sent)).toHaveLength(8);
});

const missing = (nodes: object[], spec?: object) =>
  pass(open(specOf(nodes, spec)))?.checkpoints?.find(({ phase }) => phase === 'Failed')?.missing;
const without = reply('r', "{{ $('trigger').data_content.items[0].email }}");
const found = {
  reference: "$('trigger').data_content.items[0].email",
  at: "$('trigger').data_content.items[0]",
  type: 'object',
  size: 1,
  keys: ['name'],
};
const computed = { id: 's', skill: { name: 'set', parameters: { values: 'nodes.trigger.data_content.x' } } };

test.each<[string, object | undefined, object[], object?]>([
  ['a reference', found, [webhook, without]],
  ['CEL', { at: 'nodes.trigger.data_content', keys: ['items', 'n'] }, [webhook, computed]],
  ['recordData: None', undefined, [webhook, without], { recordData: 'None' }],
  ['a sensitive node', undefined, [webhook, { ...without, sensitive: true }]],
  ['a reference to a sensitive node', undefined, [{ ...webhook, sensitive: true }, without]],
])('what a failed reference found is shown: %s', (_what, expected, nodes, spec) => {
  expect({ shown: missing(nodes, spec) }).toMatchObject({ shown: expected });
});

const each = (parameters: object) => ({
  ...mail('m'),
  forEach: { items: "{{ $('trigger').data_content.items }}" },
  skill: { name: 'send_email', credential: 'smtp', parameters: { subject: 's', body: 'b', ...parameters } },
});
const ofLoop = (memory: ReturnType<typeof open>) =>
  pass(memory)?.checkpoints?.find(({ id, phase }) => id === 'm' && phase === 'Failed');

test('a step with forEach shows what the first item that failed has sent', () => {
  const input = '{"text_content":"","data_content":{"items":["a","b","c"]}}';
  const memory = open(specOf([webhook, each({ to: '{{ $item }}@example.com' })]), { input });
  pass(memory);
  succeed(memory, 'm.0.0.1/m', text('sent'), NOW);
  pass(memory);
  fail(memory, 'm.1.0.1/m');
  expect(ofLoop(memory)).toMatchObject({
    sent: { parameters: { to: [{ address: 'b@example.com' }] } },
    items: { failed: 1 },
  });
});

test('a step with forEach shows what the reference of the first item that failed found', () => {
  const memory = open(specOf([webhook, each({ to: '{{ $item.mail }}' })]));
  expect(ofLoop(memory)).toMatchObject({ missing: { at: '$item', keys: ['name'] } });
});

test('a node of a body shows what its sample has sent', () => {
  const group = { id: 'g', group: {}, forEach: { items: "{{ $('trigger').data_content.items }}" } };
  const inner = { ...referring, within: 'g' };
  const memory = open(specOf([webhook, group, inner]));
  pass(memory);
  fail(memory, 'g.0.0.1/m');
  expect(pass(memory)?.checkpoints?.find(({ id }) => id === 'm')).toMatchObject({
    item: 0,
    sent: { parameters: { subject: 's' } },
  });
});

test('a node of a body shows what its sample would have sent without its mock', () => {
  const group = { id: 'g', group: {}, forEach: { items: "{{ $('trigger').data_content.items }}" } };
  const memory = open(specOf([webhook, group, { ...referring, within: 'g' }]));
  pass(memory);
  const progress = memory.root.loops.get('g')?.active.get(0)?.scope?.progress.get('m');
  const mocked = { parameters: { to: 'ada@example.com' } };
  if (progress) progress.mocked = mocked;
  fail(memory, 'g.0.0.1/m');
  expect(pass(memory)?.checkpoints?.find(({ id }) => id === 'm')).toMatchObject({ item: 0, mocked });
});

test('the oldest secrets are forgotten beyond the limit', () => {
  const loaded = createLoadedSecrets(2);
  const shown = 'first-secret second-secret third-secret';
  for (const name of ['first', 'second', 'third'])
    loaded.note({
      name,
      spec: { bot: { platform: 'telegram', tokenRef: { name: 's', key: 'k' } } },
      secret: () => new Secret(`${name}-secret`),
    });
  expect(masked(shown, loaded.masks())).toBe('first-secret [secret] [secret]');
});
