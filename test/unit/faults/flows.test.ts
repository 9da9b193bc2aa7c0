/** The checker of flows finds each kind of breach. */
import { expect, test } from 'vitest';
import { checkFlows, type Flow, type FlowEffect, type FlowEvidence } from '../../faults/flows/checker.ts';
import { CALLS, FLOW_KINDS, type FlowKind } from '../../faults/flows/workflows.ts';

const eventOf = (kind: FlowKind) => `ev-${kind}-1`;
const flows: Flow[] = FLOW_KINDS.map((kind) => ({
  kind,
  event: eventOf(kind),
  run: kind,
  ...(kind === 'callback' && { isCalled: true }),
  ...(kind === 'failing' && { resumed: 'resumed' }),
  ...(kind === 'grouped' && { resumed: 'resumed' }),
  ...((kind === 'repeated' || kind === 'once') && { mails: 2 }),
}));
const mailsOf = (kind: FlowKind): FlowEffect[] =>
  [0, 1].map((index) => ({
    place: `${eventOf(kind)} ${index}`,
    event: eventOf(kind),
    key: `<${kind}-${index}>`,
  }));
const calls: FlowEffect[] = FLOW_KINDS.flatMap((kind) =>
  CALLS[kind].map((place) => {
    const event = eventOf(kind);
    return { place, event, key: `${event}${place}`, body: { said: event } };
  }),
);
const alarm: FlowEffect = { place: '/alarm', event: '', key: 'alarm', body: { run: 'failing' } };
const good: FlowEvidence = {
  flows,
  runs: [
    ...['repeated', 'once', 'parent', 'callback', 'due', 'scheduled', 'resumed'].map((run) => ({
      run,
      phase: 'Succeeded',
    })),
    { run: 'failing', phase: 'Failed', reason: 'NodeFailed' },
    { run: 'grouped', phase: 'Failed', reason: 'NodeFailed' },
  ],
  mails: [...mailsOf('repeated'), ...mailsOf('once')],
  calls: [...calls, alarm],
};

const kindsOf = (changes: Partial<FlowEvidence>) =>
  checkFlows({ ...good, ...changes }).map(({ kind }) => kind);
const again = (effects: readonly FlowEffect[], event: string, change: Partial<FlowEffect> = {}) => {
  const found = effects.find((effect) => effect.event === event);
  return found ? [...effects, { ...found, ...change }] : effects;
};
const ends = (run: string, end: object) => ({
  runs: good.runs.map((one) => (one.run === run ? { ...one, ...end } : one)),
});
const without = (kind: FlowKind, field: 'resumed' | 'run') => ({
  flows: flows.map((flow) => {
    if (flow.kind !== kind) return flow;
    const { [field]: _, ...rest } = flow;
    return rest;
  }),
});
const changes = (kind: FlowKind, change: Partial<Flow>) => ({
  flows: flows.map((flow) => (flow.kind === kind ? { ...flow, ...change } : flow)),
});
const withoutCall = (place: string) => ({ calls: good.calls.filter((call) => call.place !== place) });
const once = eventOf('once');
const repeated = eventOf('repeated');

test('flows without a breach are accepted', () => {
  expect(checkFlows(good)).toEqual([]);
});

test.each([
  ['a mail that must not be repeated comes twice', { mails: again(good.mails, once) }, ['effect-twice']],
  ['a mail comes again under its Message-ID', { mails: again(good.mails, repeated) }, []],
  [
    'a mail comes again under another Message-ID',
    { mails: again(good.mails, repeated, { key: 'other' }) },
    ['effect-under-two-keys'],
  ],
  ['a mail is missing', { mails: good.mails.slice(1) }, ['effect-missing']],
  ['a loop is Unknown', ends('once', { phase: 'Failed', reason: 'EffectUnknown' }), []],
  ['another loop is Unknown', ends('repeated', { phase: 'Failed', reason: 'EffectUnknown' }), ['failed']],
  ['a run does not end', ends('parent', { phase: 'Running' }), ['late']],
  ['a call is missing', withoutCall('/after'), ['effect-missing']],
  [
    'a child is started twice',
    { calls: again(good.calls, eventOf('parent'), { place: '/begin', key: 'other' }) },
    ['effect-under-two-keys'],
  ],
  ['a callback is not accepted', changes('callback', { isCalled: false }), ['wrong-answer']],
  [
    'a repeated callback changes the body',
    {
      calls: good.calls.map((call) =>
        call.place === '/result' ? { ...call, body: { said: 'a repetition' } } : call,
      ),
    },
    ['wrong-answer'],
  ],
  ['a failure starts nothing', withoutCall('/alarm'), ['effect-missing']],
  [
    'a failure starts two runs',
    { calls: [...good.calls, { ...alarm, key: 'other' }] },
    ['effect-under-two-keys'],
  ],
  ['a run was not resumed', without('failing', 'resumed'), ['failed']],
  ['a resumed run fails', ends('resumed', { phase: 'Failed', reason: 'DataLost' }), ['failed', 'failed']],
  ['an event was never accepted', without('parent', 'run'), ['never-accepted']],
] as const)('%s', (_name, change, kinds) => {
  expect(kindsOf(change as Partial<FlowEvidence>)).toEqual(kinds);
});

test('what a loss of the run store took is no breach', () => {
  const lost = ends('parent', { phase: 'Failed', reason: 'NodeFailed', message: 'DataLost: no record' });
  const calls = good.calls.filter(({ place }) => place !== '/after');
  expect(kindsOf({ ...lost, ...changes('parent', { isHit: true }), calls })).toEqual([]);
  expect(kindsOf({ ...lost, calls })).toEqual(['failed', 'effect-missing']);
});
