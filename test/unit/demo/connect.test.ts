import { expect, test } from 'vitest';
import { sentencesOf } from '../../demo/connect.ts';

test('the demo tells what the last page of a sign-in says, whatever follows its text', () => {
  const page = (more: string) =>
    `<body>\n<h1>Almost done</h1>\n<p>Credential: <strong>shop/orders</strong></p>\n<p>It is ready.</p>\n${more}</body>`;
  expect(sentencesOf(page(''))).toBe('Almost done. It is ready.');
  expect(sentencesOf(page('<script>close()</script>\n'))).toBe('Almost done. It is ready.');
  expect(() => sentencesOf('')).toThrow('the page has no text');
});
