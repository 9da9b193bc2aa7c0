import { join } from 'node:path';
import { expect, test } from 'vitest';
import { windlass } from '../../test/support/cli/line.ts';

const HELLO = join(import.meta.dirname, '../../examples/hello/workflow.yaml');
const HEAD = 'apiVersion: windlass.dev/v1alpha1\nkind: Credential\nmetadata: { name: mail }\n';
const SECRET = 'apiVersion: v1\nkind: Secret\nmetadata: { name: mail }\nstringData: { password: hidden }\n';

test('the first manifests can come from the standard input, and objects of others are not shown', async () => {
  const { code, stdout } = await windlass(['changes', '-', HELLO], { input: `${HEAD}---\n${SECRET}` });
  expect({ code, stdout }).toEqual({ code: 0, stdout: '- Credential/mail\n+ Workflow/hello\n' });
});

test('JSON has every change as data', async () => {
  const { stdout } = await windlass(['changes', '-', HELLO, '--format', 'json']);
  expect(JSON.parse(stdout)).toEqual({
    changes: [{ change: 'Created', kind: 'Workflow', name: 'hello', namespace: '', fields: [] }],
  });
});

test.each([
  ['text that is no YAML', ['-', HELLO], 'a: b: c', 3, /-:1:\d+: error parsing/],
  [
    'a file that does not exist',
    ['/nowhere.yaml', HELLO],
    '',
    3,
    /cannot read \/nowhere.yaml: it does not exist/,
  ],
  ['the same file twice', [HELLO, HELLO], '', 2, /name two different files or folders/],
  ['one file', [HELLO], '', 2, /missing required argument 'after'/],
])('%s ends with a sentence', async (_what, names, input, code, says) => {
  const printed = await windlass(['changes', ...names], { input });
  expect(printed.code).toBe(code);
  expect(printed.stderr).toMatch(says);
});
