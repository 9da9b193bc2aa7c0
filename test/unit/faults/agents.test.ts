/** The checker of agents finds each kind of breach. */
import { expect, test } from 'vitest';
import { checkScene } from '../../faults/agents/checker.ts';
import { answerTo, finalAnswer, promptOf, type ChatMessage } from '../../faults/agents/model.ts';
import { stepMatcher, type Scene } from '../../faults/agents/points.ts';
import { OWN_SCENES, SHARED_SCENES } from '../../faults/agents/scenes.ts';
import type { AgentRun, ChatSeen, Effect, ModelRequest, SceneEvidence } from '../../faults/agents/seen.ts';
import { MOST_OUTPUT } from '../../faults/agents/workflows.ts';
import type { MemoryTurn } from '../../../api/memory.ts';

const sceneOf = (more: Partial<Scene> = {}): Scene => {
  const [first] = OWN_SCENES.filter(({ id }) => id === 'point-4');
  if (!first) throw new Error('there is no such scene');
  return { ...first, id: 's', ...more };
};
const FIRST = promptOf('s', 'serial');
const SECOND = promptOf('s', 'none');
const user = (content: string): ChatMessage => ({ role: 'user', content });

/** The messages of a conversation whose tools are all called, as the model is sent them. */
function conversation(): ChatMessage[] {
  const messages = [user(FIRST)];
  for (;;) {
    const { text = '', calls = [] } = answerTo(messages);
    if (calls.length === 0) return [...messages, { role: 'assistant', content: text }];
    const tool_calls = calls.map(({ id, name, arguments: given }) => ({
      id,
      function: { name, arguments: given },
    }));
    messages.push({ role: 'assistant', content: text, tool_calls });
    for (const { id } of calls) messages.push({ role: 'tool', content: '{}', tool_call_id: id });
  }
}

const request = (run: string, step: number, more: Partial<ModelRequest> = {}): ModelRequest => ({
  scene: 's',
  step,
  key: `project/${run}/support/1/m${step}`,
  isAnswered: true,
  messages: [user(FIRST)],
  ...more,
});
const last = request('second', 1, { messages: [...conversation(), user(SECOND)] });
const effect = (tool: string): Effect => ({ scene: 's', tool, key: `project/first/${tool}` });
const seen = (text: string, more: Partial<ChatSeen> = {}): ChatSeen => ({
  id: text,
  text,
  streams: 1,
  refusals: [],
  shown: finalAnswer(text),
  isPartial: false,
  end: { done: finalAnswer(text) },
  ...more,
});
const call = (name: string) => ({ id: name, name, arguments: '{}', result: '{}' });
const turn = (run: string, user: string, calls: string[]): MemoryTurn => ({
  run,
  time: '2026-01-01T00:00:00Z',
  user,
  steps: calls.map((name) => ({ text: '', calls: [call(name)] })),
  answer: finalAnswer(user),
});
const turns = [turn('first', FIRST, ['lookup', 'mail', 'refund']), turn('second', SECOND, [])];
const run = (name: string, more: Partial<AgentRun> = {}): AgentRun => ({
  run: name,
  workflow: 'support',
  phase: 'Succeeded',
  tokens: 600,
  ...more,
});
const requests = [
  request('first', 1, { isAnswered: false }),
  ...[1, 2, 3, 4].map((k) => request('first', k)),
];

const good: SceneEvidence = {
  scene: sceneOf(),
  hits: 1,
  chats: [seen(FIRST)],
  again: seen(SECOND),
  runs: [run('first'), run('second'), run('child', { workflow: 'refund' })],
  requests: [...requests, last],
  effects: ['lookup', 'mail', 'refund', 'after'].map(effect),
  memories: [turns],
  charges: { day: 1_200, mostDay: 1_200, mostRun: 600 },
};
const doubt = { phase: 'Failed', reason: 'EffectUnknown' };
const unknown: Partial<SceneEvidence> = {
  scene: sceneOf({ expected: 'Unknown', mails: 1 }),
  chats: [seen(FIRST, { end: { error: 'chat-failed' } })],
  runs: [run('first', doubt), run('second'), run('resumed', { retryOf: 'first' })],
  memories: [
    [
      { ...turn('first', FIRST, ['lookup', 'mail']), answer: '[failed]', failed: true },
      turns[1] as MemoryTurn,
    ],
  ],
  retried: { withoutDecision: '409 decision-missing', run: 'resumed' },
};
const refused = { phase: 'Failed', reason: 'NodeFailed', message: 'support: BudgetExceeded: …' };
const tight: Partial<SceneEvidence> = {
  scene: sceneOf({ expected: 'Refused', mails: 0, limits: { run: 500, day: 5_000 } }),
  chats: [seen(FIRST, { end: { error: 'chat-failed' } })],
  runs: [run('first', { ...refused, tokens: 400 }), run('second')],
  requests: [request('first', 1, { isAnswered: false }), request('second', 1, { messages: [user(SECOND)] })],
  effects: [],
  memories: [[turns[1] as MemoryTurn]],
  charges: { day: 1_000, mostDay: 1_000, mostRun: 400 },
};
const kindsOf = (...changes: Partial<SceneEvidence>[]) =>
  checkScene(Object.assign({}, good, ...changes) as SceneEvidence).map(({ kind }) => kind);

test('agents without a breach are accepted: succeeded, in doubt, and refused by their budget', () => {
  expect([kindsOf(), kindsOf(unknown), kindsOf(tight)]).toEqual([[], [], []]);
});

const { end: _end, ...endless } = seen(FIRST);
test.each<[string, Partial<SceneEvidence>[], string[]]>([
  ['a fault that did not happen', [{ hits: 0 }], ['not-reached']],
  [
    'a mail that must not be repeated comes twice',
    [{ effects: [...good.effects, effect('mail')] }],
    ['effect-twice', 'effect-of-nothing'],
  ],
  [
    'a mail of an agent in doubt comes twice',
    [unknown, { effects: [...good.effects, effect('mail')] }],
    ['effect-twice', 'effect-of-nothing'],
  ],
  ['a tool comes again under its key', [{ effects: [...good.effects, effect('lookup')] }], []],
  [
    'a tool comes again under another key',
    [{ effects: [...good.effects, { ...effect('lookup'), key: 'other' }] }],
    ['effect-under-two-keys'],
  ],
  [
    'a second child run',
    [{ effects: [...good.effects, { ...effect('refund'), key: 'other' }] }],
    ['effect-under-two-keys'],
  ],
  ['a tool is not called', [{ effects: good.effects.slice(1) }], ['effect-missing']],
  [
    'a stored answer is asked for again',
    [{ requests: [...good.requests, request('first', 3)] }],
    ['effect-twice'],
  ],
  [
    'an answer under two keys',
    [{ requests: [...requests.slice(1), request('first', 1, { key: 'project/first/support/2/m1' }), last] }],
    ['effect-under-two-keys'],
  ],
  [
    'an agent in doubt that succeeded',
    [
      {
        scene: sceneOf({ expected: 'Unknown' }),
        retried: { withoutDecision: '409 decision-missing', run: 'second' },
      },
    ],
    ['failed'],
  ],
  [
    'an agent that is in doubt without a reason',
    [unknown, { scene: sceneOf() }],
    ['failed', 'memory-broken'],
  ],
  [
    'a run that does not end',
    [{ runs: [run('first', { phase: 'Running' }), run('second')] }],
    ['late', 'wrong-answer', 'memory-twice', 'memory-twice'],
  ],
  [
    'a message that became two runs',
    [{ runs: [...good.runs, run('third')] }],
    ['another-run', 'wrong-answer', 'memory-lost'],
  ],
  ['a turn that is lost', [{ memories: [turns.slice(1)] }], ['memory-lost']],
  ['a turn that is stored twice', [{ memories: [[...turns, ...turns.slice(0, 1)]] }], ['memory-twice']],
  [
    'a turn without one of its calls',
    [{ memories: [[turn('first', FIRST, ['lookup', 'mail']), ...turns.slice(1)]] }],
    ['memory-broken'],
  ],
  [
    'a turn that the model was not sent',
    [{ requests: [...requests, { ...last, messages: [user(SECOND)] }] }],
    ['memory-lost'],
  ],
  [
    'a turn that the model was sent twice',
    [{ requests: [...requests, { ...last, messages: [...conversation(), ...last.messages] }] }],
    ['memory-twice'],
  ],
  [
    'a call that the model was sent without its result',
    [{ requests: [...requests, { ...last, messages: last.messages.filter(({ role }) => role !== 'tool') }] }],
    ['memory-broken'],
  ],
  [
    'a day above its budget for a moment',
    [tight, { charges: { day: 1_000, mostDay: 5_001, mostRun: 400 } }],
    ['above-budget'],
  ],
  [
    'a run above its budget',
    [tight, { charges: { day: 1_000, mostDay: 1_000, mostRun: 501 } }],
    ['above-budget'],
  ],
  [
    'a request that was not charged',
    [tight, { requests: [...(tight.requests ?? []), request('first', 1, { isAnswered: false })] }],
    ['not-charged'],
  ],
  [
    'requests of a day that were not charged',
    [{ charges: { day: MOST_OUTPUT - 1, mostDay: 600, mostRun: 600 } }],
    ['not-charged'],
  ],
  ['an answer that nobody gets', [{ chats: [endless] }], ['wrong-answer', 'late']],
  ['another answer', [{ chats: [seen(FIRST, { end: { done: 'half' } })] }], ['wrong-answer']],
  [
    'text that does not belong to the answer',
    [{ chats: [seen(FIRST, { shown: 'doubled doubled' })] }],
    ['wrong-answer'],
  ],
  [
    'a retry that needs no decision',
    [unknown, { retried: { withoutDecision: '202 undefined', run: 'resumed' } }],
    ['no-decision'],
  ],
])('%s', (_name, changes, kinds) => {
  expect(kindsOf(...changes).toSorted()).toEqual(kinds.toSorted());
});

test('there are 20 points at which a runner is killed, and sequences of two faults', () => {
  const points = OWN_SCENES.filter(({ id }) => id.startsWith('point-'));
  expect(points.length).toBeGreaterThanOrEqual(20);
  expect(points.every(({ blows }) => blows.length === 1 && blows[0]?.hits.includes('kill-runner'))).toBe(
    true,
  );
  expect(OWN_SCENES.filter(({ blows }) => blows.length === 2).length).toBeGreaterThanOrEqual(10);
  const ids = [...OWN_SCENES, ...SHARED_SCENES.flat()].map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});

test('a step of the run store is known by its keys and arguments', () => {
  const uids = { agent: 'a', child: 'c' };
  const group = (uid: string) => [...Array<string>(9).fill('k'), `wl:{p}:wf:${uid}`];
  const ends = (uid: string) => ({ keys: group(uid), args: ['Succeeded'] });
  expect(stepMatcher('run ends', uids)(ends('a'))).toBe(true);
  expect(stepMatcher('run ends', uids)(ends('c'))).toBe(false);
  expect(stepMatcher('child ends', uids)(ends('c'))).toBe(true);
  expect(stepMatcher('m2.0', uids)({ keys: [], args: ['support/m2.0'] })).toBe(true);
  expect(stepMatcher('m2', uids)({ keys: [], args: ['support/m2.0'] })).toBe(false);
});
