/** Whole workflows that are valid, edges that no run takes, and the order of violations. */
import { expect, test } from 'vitest';
import type { WorkflowNode } from '../../api/workflow.ts';
import { agent, good, type Invalid, mail, spec, webhook } from '../../test/support/operator/workflowSpecs.ts';
import { validate } from './validate.ts';

const STOP: WorkflowNode = { id: 'stop', fail: { reason: 'OutOfStock', message: 'sold out' } };
const NEVER: WorkflowNode = { id: 'tick', schedule: { cron: '0 0 30 2 *', timeZone: 'UTC' } };

test('a webhook, an agent, a mail and a response that refer to what came before are valid', () => {
  const nodes = [
    webhook,
    agent("{{ $('trigger').data_content.items[0].name }}"),
    mail({ ...good, body: "{{ $('agent_1').text_content }}" }),
    { id: 'reply', response: { status: 201, body: { summary: "{{ $('agent_1').text_content }}" } } },
  ];
  expect(validate(spec(nodes))).toEqual([]);
});

test.each<Invalid>([
  [
    'an edge from a fail node',
    spec([webhook, STOP, agent('Hi')]),
    'UnreachableStep',
    /^edge stop → agent_1: is never taken, since the fail node stop ends the run: remove the edge/,
  ],
  [
    'a step that no edge leads to',
    spec([webhook, agent('Hi'), mail(good)], [{ from: 'trigger', to: 'mail' }]),
    'UnreachableStep',
    /^node agent_1: no edge leads to it, so it would never run: add an edge to it, or remove it$/,
  ],
  [
    'the failure of a trigger',
    spec([webhook, mail(good)], [{ from: 'trigger', to: 'mail', after: 'Failure' }]),
    'UnreachableStep',
    /^edge trigger → mail: after: Failure is never taken, since a trigger does not fail: remove after$/,
  ],
])('%s is refused with its reason, the place and what to do', (_sentence, refused, reason, says) => {
  expect(validate(refused)[0]).toMatchObject({ reason, message: expect.stringMatching(says) });
});

test('what is wrong with the trigger is marked so, because nothing may be served under it', () => {
  const open = spec([NEVER, agent('{{')]);
  expect(validate(open).map(({ trigger }) => trigger)).toEqual([true, undefined]);
});

test('everything that is wrong is found at once', () => {
  const nodes = [NEVER, agent('{{'), mail({ to: 'nobody', subject: 'Hello', body: 'Text' })];
  expect(validate(spec(nodes)).map(({ reason }) => reason)).toEqual([
    'InvalidSchedule',
    'InvalidParameters',
    'InvalidExpression',
  ]);
});
