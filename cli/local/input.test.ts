import { describe, expect, test } from 'vitest';
import type { WorkflowSpec } from '../../api/workflow.ts';
import { chosenWorkflow, emptyEvent, mockOf, requireMocks, splitMock, triggerInput } from './input.ts';

const specOf = (trigger: object) =>
  ({
    nodes: [
      { id: 'start', ...trigger },
      { id: 'call', skill: { name: 'http_request' } },
    ],
  }) as WorkflowSpec;
const manual = specOf({ manual: {} });
const chosen = (names: string[], name?: string) =>
  chosenWorkflow(new Map(names.map((each) => [each, manual])), name);

describe('the workflow to execute', () => {
  test.each([
    [['a'], undefined],
    [['b', 'a'], 'a'],
  ])('of %j with --workflow %s is a', (names, name) => {
    expect(chosen(names, name).name).toBe('a');
  });

  test.each([
    [[], undefined, /the files have no Workflow/],
    [['a', 'b'], undefined, /several workflows: choose one with --workflow: a, b/],
    [['a', 'b'], 'c', /no workflow c, only a, b/],
  ])('of %j with --workflow %s is refused', (names, name, says) => {
    expect(() => chosen(names, name)).toThrow(says);
  });
});

describe('the event', () => {
  const inputOf = (trigger: object, text: string) => triggerInput(specOf(trigger), { file: 'in.json', text });

  test.each([
    [
      { manual: {} },
      '{"id":12345678901234567890}',
      '{"text_content":"","data_content":{"id":12345678901234567890}}',
    ],
    [{ webhook: { path: 'a' } }, '[1]', '{"text_content":"","data_content":[1]}'],
    [{ mail: { credential: 'a' } }, '{"text_content":"hi"}', '{"text_content":"hi","data_content":{}}'],
    [
      { bot: { credential: 'a' } },
      '{"data_content":{"chat_id":1}}',
      '{"text_content":"","data_content":{"chat_id":1}}',
    ],
  ])('of %j from %s', (trigger, text, input) => {
    expect(inputOf(trigger, text)).toBe(input);
  });

  test.each([
    [{ manual: {} }, '{', /in\.json is not JSON/],
    [
      { mail: { credential: 'a' } },
      '{"subject":"x"}',
      /a mail trigger is an object with text_content or data/,
    ],
  ])('of %j from %s is refused', (trigger, text, says) => {
    expect(() => inputOf(trigger, text)).toThrow(says);
  });
});

describe('a mock', () => {
  test.each([
    ['call=a.json', { node: 'call', file: 'a.json' }],
    ['ask/mail=a=b.json', { node: 'ask', tool: 'mail', file: 'a=b.json' }],
  ])('%s names node and file', (text, parts) => {
    expect(splitMock(text)).toEqual(parts);
  });

  test.each(['call', '=a.json', 'call='])('%j is refused', (text) => {
    expect(() => splitMock(text)).toThrow(/write node=file or node\/tool=file/);
  });

  test.each([
    ['{"text_content":"a"}', { output: { text_content: 'a' } }],
    ['{"id":1}', { output: { data_content: { id: 1 } } }],
    ['[1]', { output: { data_content: [1] } }],
    ['{"error":{"reason":"Timeout"}}', { error: { reason: 'Timeout', message: '' } }],
  ])('from %s', (text, mock) => {
    expect(mockOf({ node: 'call' }, { file: 'a.json', text })).toEqual({ node: 'call', ...mock });
  });

  test('of a node that does not exist is refused', () => {
    expect(() => requireMocks('orders', manual, [{ node: 'none', output: {} }])).toThrow(
      /--mock: the workflow has no step none/,
    );
  });

  test('with a reason that no mock can have is refused', () => {
    const wrong = () => mockOf({ node: 'call' }, { file: 'a.json', text: '{"error":{"reason":"Nope"}}' });
    expect(wrong).toThrow(/a\.json: .*reason/);
  });
});

describe('a run without an event', () => {
  const reading = (trigger: object) =>
    ({
      nodes: [
        { id: 'start', ...trigger },
        { id: 'reply', response: { body: "{{ $('start').data_content.name }}" } },
      ],
    }) as WorkflowSpec;

  test.each([
    ['reads the event of a trigger without test data', reading({ webhook: { path: 'a' } }), true],
    ['has test data', reading({ manual: { testData: { name: 'a' } } }), false],
    ['reads no event', manual, false],
  ])('of a workflow that %s is judged', (_what, spec, isHinted) => {
    expect(emptyEvent(spec)?.includes('Give an event with --input') ?? false).toBe(isHinted);
  });
});
