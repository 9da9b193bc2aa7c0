import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { COMMANDS } from '../commands.ts';
import { executeLine } from '../program.ts';
import { createTerminal } from '../shared/terminal.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'import-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const EXPORT = {
  name: 'Answer',
  nodes: [
    {
      id: '1',
      name: 'Webhook',
      type: 'n8n-nodes-base.webhook',
      typeVersion: 2,
      position: [0, 0],
      parameters: { path: 'answer', httpMethod: 'POST' },
    },
  ],
  connections: {},
};

async function execute(...line: string[]) {
  const written = { stdout: '', stderr: '' };
  const streams = {
    stdin: (async function* () {})(),
    stdout: { write: (text: string) => (written.stdout += text) },
    stderr: { write: (text: string) => (written.stderr += text) },
  };
  const terminal = createTerminal(streams, { admitsColour: false });
  const code = await executeLine(COMMANDS, ['import', ...line], { terminal, debug: false });
  return { code, ...written };
}

test('exports become manifests and a report in the folder that is named', async () => {
  writeFileSync(join(folder, 'answer.json'), JSON.stringify(EXPORT));
  const out = join(folder, 'out');
  const { code, stdout, stderr } = await execute('n8n', folder, '--output-dir', out);
  expect(code).toBe(0);
  expect(readdirSync(out).toSorted()).toEqual(['import-report.json', 'workflow-answer.yaml']);
  expect(stdout).toContain('workflow-answer.yaml');
  expect(stderr).toContain('1 nodes: ');
});

test('a file that is no workflow is named, the others are written, and the command fails', async () => {
  writeFileSync(join(folder, 'answer.json'), JSON.stringify(EXPORT));
  writeFileSync(join(folder, 'broken.json'), '{');
  const out = join(folder, 'out');
  const { code, stderr } = await execute('n8n', folder, '--output-dir', out);
  expect(code).toBe(1);
  expect(stderr).toContain('broken.json: the file is no JSON');
  expect(readdirSync(out)).toContain('workflow-answer.yaml');
});

test('a file that somebody has edited is named and kept, unless --force is given', async () => {
  writeFileSync(join(folder, 'answer.json'), JSON.stringify(EXPORT));
  const out = join(folder, 'out');
  const file = join(out, 'workflow-answer.yaml');
  expect((await execute('n8n', folder, '-o', out)).code).toBe(0);
  const made = readFileSync(file, 'utf8');
  expect((await execute('n8n', folder, '-o', out)).code).toBe(0);
  writeFileSync(file, `# ours\n${made}`);
  expect(await execute('n8n', folder, '-o', out)).toMatchObject({
    code: 3,
    stderr: expect.stringContaining(`exist with another content: ${file}. Nothing was written`) as string,
  });
  expect(readFileSync(file, 'utf8')).toBe(`# ours\n${made}`);
  expect((await execute('n8n', folder, '-o', out, '--force')).code).toBe(0);
  expect(readFileSync(file, 'utf8')).toBe(made);
});

test('a folder that cannot be written is named, with what to do', async () => {
  writeFileSync(join(folder, 'answer.json'), JSON.stringify(EXPORT));
  const { code, stderr } = await execute('n8n', folder, '--output-dir', join(folder, 'answer.json'));
  expect(code).toBe(3);
  expect(stderr).toMatch(/workflow-answer\.yaml: its folder is a file\. Choose another --output-dir/);
});

test.each([
  ['another format', ['zapier', '.'], 2, 'cannot import "zapier": it must be n8n'],
  ['no file', ['n8n'], 2, "missing required argument 'file'"],
  ['a file that does not exist', ['n8n', '/nowhere/x.json'], 3, 'there is no file or folder /nowhere/x.json'],
])('what cannot be imported is refused with a sentence: %s', async (_what, line, expected, message) => {
  const { code, stderr } = await execute(...line);
  expect(code).toBe(expected);
  expect(stderr).toContain(message);
});

test('a folder that the file system cannot have is refused', async () => {
  writeFileSync(join(folder, 'answer.json'), JSON.stringify(EXPORT));
  const { code, stderr } = await execute('n8n', folder, '--output-dir', '/proc/self/out');
  expect(code).toBe(3);
  expect(stderr).toContain('this file system has no new folders. Choose another --output-dir');
});
