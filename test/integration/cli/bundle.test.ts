/** What `npm run cli:bundle` makes, package and single file, in a folder without any other package. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bundledCommandLine, bundledSingleFile } from '../../../images/bundle.ts';
import { layOut } from '../../../images/files.ts';
import { testAction } from './action.ts';

const execute = promisify(execFile);
let folder: string;
let single: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'windlass-cli-'));
  const files = await bundledCommandLine();
  await layOut(files, folder);
  single = await bundledSingleFile(files);
}, 60_000);

afterAll(() => rm(folder, { recursive: true }));

const windlass = (...line: string[]) =>
  execute(process.execPath, [join(folder, 'app/windlass.mjs'), ...line], { cwd: folder });

test('prints the help', async () => {
  expect((await windlass('--help')).stdout).toContain('Usage: windlass');
});

test('prints results as YAML', async () => {
  expect((await windlass('version', '-o', 'yaml')).stdout).toMatch(/^version: \d/);
});

describe('the single file', () => {
  const start = async (name: string, env: NodeJS.ProcessEnv) => {
    const file = join(folder, name);
    await writeFile(file, single, { mode: 0o755 });
    const { stdout } = await execute(process.execPath, [file, 'version', '-o', 'name'], { cwd: folder, env });
    return stdout;
  };
  const isVersion = expect.stringMatching(/^\d+\.\d+\.\d+\n$/) as string;

  // A plugin of kubectl has no ending: Node.js finds out itself that it is a module.
  test('unpacks itself once into the cache of the user, also from a file without an ending', async () => {
    const env = { PATH: process.env['PATH'], XDG_CACHE_HOME: join(folder, 'cache') };
    expect([await start('one.mjs', env), await start('kubectl-windlass', env)]).toEqual([
      isVersion,
      isVersion,
    ]);
    expect(await readdir(join(folder, 'cache/windlass'))).toHaveLength(1);
  });

  test('leaves nothing in a temporary folder where there is no cache', async () => {
    const temporary = await mkdtemp(join(folder, 'tmp-'));
    const env = { XDG_CACHE_HOME: '/dev/null', TMPDIR: temporary, NODE_DISABLE_COMPILE_CACHE: '1' };
    expect(await start('two.mjs', env)).toEqual(isVersion);
    expect(await readdir(temporary)).toEqual([]);
  });

  test('says what to do where it can write no folder', async () => {
    const env = { XDG_CACHE_HOME: '/dev/null', TMPDIR: '/dev/null' };
    await expect(start('three.mjs', env)).rejects.toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringMatching(
        /^error: windlass cannot unpack itself .*: set XDG_CACHE_HOME or/,
      ) as string,
    });
  });
});

test('has the JSON Schemas for editors', async () => {
  const schemas = join(import.meta.dirname, '../../../docs/schemas');
  const packed = await readdir(join(folder, 'app/schemas'));
  expect(packed.toSorted()).toEqual((await readdir(schemas)).toSorted());
});

test('says which Node.js it needs where it is too old', async () => {
  const older = join(folder, 'older.mjs');
  const set = "Object.defineProperty(process, 'versions', { value: { node: '20.1.0' } });";
  await writeFile(older, `${set} await import('./app/windlass.mjs');`);
  await expect(execute(process.execPath, [older, 'version'])).rejects.toMatchObject({
    code: 3,
    stdout: '',
    stderr: expect.stringMatching(/^error: windlass needs Node\.js 24 or newer.*\n$/) as string,
  });
});

test('executes a workflow', async () => {
  const { stdout } = await windlass('run', '--local', join(import.meta.dirname, '../../../examples/hello'));
  expect(stdout).toContain('Hello, World!');
});

test('compiles the code of a workflow in its sandbox', async () => {
  const file = join(folder, 'w.yaml');
  await writeFile(
    file,
    'apiVersion: windlass.dev/v1alpha1\nkind: Workflow\nmetadata: { name: a }\nspec:\n  active: true\n  nodes:\n    - { id: start, manual: {} }\n    - { id: a, code: { source: "return 1" } }\n',
  );
  expect((await windlass('lint', file)).stderr).toBe('nothing wrong in 1 object\n');
});

describe('the GitHub Action and the hooks of pre-commit', () => {
  testAction(() => join(folder, 'app'));
});
