import { expect, test } from 'vitest';
import { chatHtml, chatPolicy } from './page.ts';

test('the texts of the author are text, also where they look like markup', () => {
  const text = `"><script>alert('x')</script>`;
  const html = chatHtml({
    id: '0'.repeat(32),
    title: text,
    welcome: text,
    suggestions: [text],
    access: 'Public',
  });
  expect(html).not.toContain('<script>alert');
  expect(html.split('&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;').length).toBe(5);
});

test.each([
  [undefined, "frame-ancestors 'none'"],
  [[], "frame-ancestors 'none'"],
  [['https://a.example', 'https://*.b.example'], 'frame-ancestors https://a.example https://*.b.example'],
])('with embedIn %j the policy ends with %s', (embedIn, end) =>
  expect(chatPolicy(embedIn ? { embedIn } : {})).toMatch(new RegExp(`; ${end.replaceAll(/[*.]/g, '\\$&')}$`)),
);
