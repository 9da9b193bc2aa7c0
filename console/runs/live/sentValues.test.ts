import { expect, test } from 'vitest';
import { sentOf, valueText } from './sentValues.ts';

const parameters = { to: 'ada@example.com', n: 1 };
const shown = { parameters: Object.entries(parameters), isTruncated: false, isMock: false };

test.each<[string, Parameters<typeof sentOf>[0], object | undefined]>([
  ['nothing', {}, undefined],
  ['what was sent', { sent: { parameters } }, shown],
  ['what was cut', { sent: { parameters, truncated: true } }, { ...shown, isTruncated: true }],
  ['what a mock kept back', { mocked: { parameters } }, { ...shown, isMock: true }],
  ['a mock without parameters', { mocked: {} }, undefined],
])('a node shows %s as sent', (_what, node, expected) => {
  expect(sentOf(node)).toEqual(expected);
});

test('texts are shown as they are, other values as JSON', () => {
  expect([valueText('a\n"b"'), valueText({ a: [1] }), valueText(null)]).toEqual([
    'a\n"b"',
    '{\n  "a": [\n    1\n  ]\n}',
    'null',
  ]);
});
