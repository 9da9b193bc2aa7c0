import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { AUDIT_EVENTS } from './events.ts';

test('docs/audit.md has the table of events that the register has', async () => {
  const page = await readFile(new URL('../../docs/audit.md', import.meta.url), 'utf8');
  const rows = page.split('\n').filter((line) => /^\| `[a-z]+\.[a-zA-Z]+` \|/.test(line));
  const wanted = Object.entries(AUDIT_EVENTS).map(([event, { verb, programs, meaning, ...more }]) => {
    const kind = 'kind' in more ? `${more.kind} ` : '';
    return `| \`${event}\` | ${verb} | ${kind}| ${programs.join(', ')} | ${meaning} |`;
  });
  expect(rows).toEqual(wanted);
});
