/** What the parameters of a node must not be. */
import { expect, test } from 'vitest';
import type { WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import { good, type Invalid, mail, spec, webhook } from '../../../test/support/operator/workflowSpecs.ts';
import { validate } from '../validate.ts';

const schedule = (cron: string, timeZone = 'UTC'): WorkflowNode => ({
  id: 'tick',
  schedule: { cron, timeZone },
});

test.each<Invalid>([
  [
    'a day that never comes',
    spec([schedule('0 0 30 2 *')]),
    'InvalidSchedule',
    /^node tick: schedule: it never fires \(for example February 30\)/,
  ],
  [
    'a time zone that is not there',
    spec([schedule('0 0 * * *', 'Mars/Olympus')]),
    'InvalidSchedule',
    /^node tick: schedule: unknown time zone Mars\/Olympus/,
  ],
  [
    'a tool without the credential of its skill',
    spec([
      webhook,
      {
        id: 'a',
        agent: {
          credential: 'llm',
          model: 'm',
          prompt: 'p',
          tools: [{ skill: 'send_email', parameters: { to: 'a@example.com' } }],
        },
      },
    ]),
    'InvalidParameters',
    /^node a: agent\.tools\[0\]: credential is missing: send_email needs/,
  ],
  [
    'an invalid output schema',
    spec([
      webhook,
      { id: 'a', agent: { credential: 'llm', model: 'm', prompt: 'p', outputSchema: { type: 'objekt' } } },
    ]),
    'InvalidParameters',
    /^node a: agent: outputSchema cannot be used: /,
  ],
  [
    'options that the step itself sets',
    spec([
      webhook,
      { id: 'a', agent: { credential: 'llm', model: 'm', prompt: 'p', options: { stream: false } } },
    ]),
    'InvalidParameters',
    /^node a: agent: options: stream cannot be set here/,
  ],
  [
    'options that ask for answers nobody reads, and leave the tokens uncounted',
    spec([
      webhook,
      {
        id: 'a',
        agent: {
          credential: 'llm',
          model: 'm',
          prompt: 'p',
          options: { best_of: 3, stream_options: { include_usage: false } },
        },
      },
    ]),
    'InvalidParameters',
    /^node a: agent: options: stream_options, best_of cannot be set here: .*count the tokens.*one answer/,
  ],
  [
    'a skill that does not exist',
    spec([webhook, { id: 's', skill: { name: 'send_fax' } }]),
    'UnknownSkill',
    /^node s: skill: there is no skill named send_fax; use one of .*send_email/,
  ],
  [
    'a parameter that the skill lacks',
    spec([webhook, mail({ ...good, colour: 'red' })]),
    'InvalidParameters',
    /^node mail: skill: parameters: .*colour/,
  ],
  [
    'a skill without the credential that it needs',
    spec([webhook, { id: 's', skill: { name: 'send_email', parameters: good } }]),
    'InvalidParameters',
    /^node s: skill: credential is missing: .*smtp/,
  ],
  ...['tomorrow', '2026-05-01T08:00:00', '2026-02-30T08:00:00Z', "{{ 'soon' }}"].map(
    (until): Invalid => [
      `a wait until ${until}`,
      spec([webhook, { id: 'pause', wait: { until } }]),
      'InvalidParameters',
      /^node pause: wait\.until: ".*" is not a time in RFC 3339: write a date/,
    ],
  ),
])('%s is refused with its reason, the place and what to do', (_sentence, refused, reason, says) => {
  expect(validate(refused)[0]).toMatchObject({ reason, message: expect.stringMatching(says) });
});

test.each<[sentence: string, spec: WorkflowSpec]>([
  ['a wait until a time', spec([webhook, { id: 'pause', wait: { until: '2026-05-01T08:00:00+02:00' } }])],
  [
    'a wait until a time that a reference gives',
    spec([webhook, { id: 'pause', wait: { until: "{{ $('trigger').data_content.day }}T08:00:00Z" } }]),
  ],
])('%s is valid', (_sentence, spec) => {
  expect(validate(spec)).toEqual([]);
});

test.each([
  [
    'Set-Cookie',
    { headers: { 'Set-Cookie': 'a=b' } },
    /^node reply: response: the header Set-Cookie cannot be/,
  ],
  [
    'Content-Length',
    { headers: { 'content-length': '{{ $index }}' } },
    /the header content-length cannot be/,
  ],
  ['a name with a space', { headers: { 'X A': 'b' } }, /a name in headers is not a valid HTTP header name/],
  ['a value with a line break', { headers: { 'X-A': 'a\nb' } }, /the value of X-A holds a line break/],
  ['a content type with a line break', { contentType: 'text/plain\n' }, /the value of contentType holds/],
])('a response that can never be sent is refused: %s', (_what, response, says) => {
  expect(validate(spec([webhook, { id: 'reply', response }]))).toContainEqual({
    reason: 'InvalidParameters',
    message: expect.stringMatching(says),
  });
});

test('a header whose value a reference gives is valid', () => {
  const headers = { 'X-Name': "{{ $('trigger').data_content.name }}", 'Content-Type': 'text/csv' };
  expect(validate(spec([webhook, { id: 'reply', response: { headers } }]))).toEqual([]);
});
