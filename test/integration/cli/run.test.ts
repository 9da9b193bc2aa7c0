/** `windlass run --local`: the runner and the scripts of the run store, without a cluster. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { windlass } from '../../support/cli/line.ts';
import { listen, readBody, sendJson, type Listening } from '../../support/network/listen.ts';
import { pollUntil } from '../../support/time/poll.ts';

let folder: string;
let server: Listening;
let host: string;
const received: { body: string; authorization: string | undefined }[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'run-local-'));
  server = await listen(async (request, response) => {
    received.push({ body: await readBody(request), authorization: request.headers.authorization });
    sendJson(response, 200, { id: 7 });
  });
  host = new URL(server.url).host;
});

afterAll(async () => {
  await server?.close();
  if (folder) await rm(folder, { recursive: true });
});

beforeEach(() => {
  received.length = 0;
});

async function write(name: string, content: unknown): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, typeof content === 'string' ? content : stringify(content));
  return path;
}

const workflow = (name: string, trigger: object, nodes: object[]) => ({
  apiVersion: 'windlass.dev/v1alpha1',
  kind: 'Workflow',
  metadata: { name },
  spec: { active: true, nodes: [{ id: 'start', ...trigger }, ...nodes] },
});

const manual = { manual: { testData: { name: 'Ada' } } };
const calls = () => ({
  id: 'call',
  skill: {
    name: 'http_request',
    credential: 'shop',
    parameters: {
      method: 'POST',
      url: `${server.url}/orders`,
      body: { name: "{{ $('start').data_content.name }}" },
    },
  },
});
const reply = { id: 'reply', response: { body: "{{ $('call').data_content.body }}" } };

const account = () =>
  [
    {
      apiVersion: 'windlass.dev/v1alpha1',
      kind: 'Credential',
      metadata: { name: 'shop' },
      spec: {
        http: { bearer: { tokenRef: { name: 'shop', key: 'token' } }, allowedHosts: [`http://${host}`] },
      },
    },
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'shop' }, stringData: { token: 'abc' } },
  ]
    .map((object) => stringify(object))
    .join('---\n');

const run = (...line: string[]) => windlass(['run', '--local', ...line]);

describe('a step that contacts another system', () => {
  test('is shown and not done', async () => {
    const file = await write('shown.yaml', workflow('shown', manual, [calls()]));
    const { code, stdout, stderr } = await run(file);
    expect({ code, received }).toEqual({ code: 0, received: [] });
    expect(stdout).toMatch(/call not done, would have sent\n[^]*"name": "Ada"/);
    expect(stderr).toContain('not done, since effects are not allowed: call.');
  });

  test('is done with --allow-effects, with the Secret of the files', async () => {
    const file = await write('done.yaml', workflow('done', manual, [calls(), reply]));
    const credentials = await write('accounts.yaml', account());
    const allowed = ['--credentials', credentials, '--allow-effects', '--allow-host', host];
    const { code, stdout } = await run(file, ...allowed);
    expect({ code, received }).toEqual({
      code: 0,
      received: [{ body: '{"name":"Ada"}', authorization: 'Bearer abc' }],
    });
    expect(stdout).toContain('reply 200\n  {"id":7}');
    expect(stdout).not.toContain('abc');
  });

  test('connects to the Internet alone unless a host is named', async () => {
    const file = await write('inside.yaml', workflow('inside', manual, [calls()]));
    const { code, stderr } = await run(
      file,
      '--credentials',
      await write('a.yaml', account()),
      '--allow-effects',
    );
    expect({ code, received }).toEqual({ code: 1, received: [] });
    expect(stderr).toMatch(/✗ call: AddressForbidden/);
  });

  test('has the output of its mock', async () => {
    const file = await write('mocked.yaml', workflow('mocked', manual, [calls(), reply]));
    const mock = await write('mock.json', '{"body": {"id": 9}}');
    const { code, stdout } = await run(file, '--mock', `call=${mock}`);
    expect({ code, received }).toEqual({ code: 0, received: [] });
    expect(stdout).toContain('reply 200\n  {"id":9}');
  });

  test('fails as its mock says', async () => {
    const file = await write('failing.yaml', workflow('failing', manual, [calls()]));
    const mock = await write('fail.json', '{"error": {"reason": "Refused", "message": "sold out"}}');
    const { code, stderr } = await run(file, '--mock', `call=${mock}`);
    expect(code).toBe(1);
    expect(stderr).toContain('✗ call: Refused: sold out');
  });
});

describe('a run', () => {
  const code = { id: 'sum', code: { source: 'return nodes.start.data_content.a + 1' } };

  test('takes its event from a file, and executes code', async () => {
    const file = await write('code.yaml', workflow('code', { webhook: { path: 'a' } }, [code]));
    const input = await write('in.json', '{"a": 41}');
    const { code: exit, stdout } = await run(file, '--input', input, '-o', 'json');
    expect(exit).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      kind: 'WorkflowRun',
      status: { phase: 'Succeeded', nodes: [{}, { id: 'sum', output: { data_content: 42 } }] },
    });
  });

  test('starts child runs of workflows in the files, whose steps are not done either', async () => {
    const parent = workflow('parent', manual, [
      { id: 'child', workflow: { name: 'callee', input: { name: 'Bo' } } },
    ]);
    const file = await write(
      'flows.yaml',
      [parent, workflow('callee', manual, [calls()])].map((each) => stringify(each)).join('---\n'),
    );
    const { code: exit, stdout } = await run(file, '--workflow', 'parent');
    expect({ exit, received }).toEqual({ exit: 0, received: [] });
    expect(stdout).toContain('not done: effects are not allowed');
  });

  test('continues after a wait', async () => {
    const file = await write(
      'wait.yaml',
      workflow('wait', manual, [
        { id: 'pause', wait: { duration: '1100ms' } },
        { id: 'reply', response: { body: 'hi' } },
      ]),
    );
    const { code: exit, stderr } = await run(file);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '✓ start\n… pause\n✓ pause\n✓ reply\n' });
  });

  test('has URLs of callbacks, and continues with the mock of one', async () => {
    const parameters = { method: 'POST', url: 'https://a.example', body: "{{ $url('approved') }}" };
    const asks = { id: 'ask', skill: { name: 'http_request', parameters } };
    const nodes = [asks, { id: 'approved', wait: { callback: {} } }];
    const file = await write('callback.yaml', workflow('callback', manual, nodes));
    const mock = await write('approved.json', '{"ok": true}');
    const { code: exit, stdout } = await run(file, '--mock', `approved=${mock}`);
    expect({ exit, stdout }).toEqual({
      exit: 0,
      stdout: expect.stringContaining('URL of a callback') as string,
    });
  });

  test('reads the variables of the files', async () => {
    const map = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'windlass-variables' },
      data: { shop: 'A' },
    };
    const reads = workflow('vars', manual, [{ id: 'reply', response: { body: '{{ $vars.shop }}' } }]);
    const file = await write('vars.yaml', [map, reads].map((each) => stringify(each)).join('---\n'));
    expect((await run(file)).stdout).toContain('reply 200\n  A\n');
  });

  test('of an invalid workflow does not start', async () => {
    const file = await write(
      'invalid.yaml',
      workflow('invalid', manual, [{ id: 'a', skill: { name: 'none' } }]),
    );
    expect(await run(file)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /^error: workflow invalid is invalid: node a: skill: there is no skill/,
      ) as string,
    });
  });

  test('without --local is refused', async () => {
    expect(await windlass(['run', 'a.yaml'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('write --local') as string,
    });
  });
});

describe('the Redis of a run', () => {
  const program = join(import.meta.dirname, '../../../cli/main.ts');

  /** The folders of such servers of this machine. */
  const foldersIn = async (path: string) =>
    (await readdir(path)).filter((name) => name.startsWith('windlass-'));

  test('ends when the process is killed', async () => {
    const file = await write(
      'long.yaml',
      workflow('long', manual, [{ id: 'pause', wait: { duration: '1h' } }]),
    );
    const own = await mkdtemp(join(folder, 'tmp-'));
    const child = spawn(process.execPath, [program, 'run', '--local', file], {
      env: { ...process.env, TMPDIR: own },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    await Promise.race([once(child.stderr, 'data'), once(child, 'exit')]);
    const [name = ''] = await foldersIn(own);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const answers = () =>
      new Promise<boolean>((resolve) => {
        const socket = connect({ path: join(own, name, 'redis.sock') }, () => {
          socket.destroy();
          resolve(true);
        });
        socket.once('error', () => resolve(false));
      });
    const isGone = () => answers().then((is) => !is);
    expect(await pollUntil('the end of the server', isGone, { timeoutMs: 10_000, everyMs: 20 })).toBe(true);
  });

  test('and the run end at SIGINT, and leave nothing', async () => {
    const file = await write(
      'long.yaml',
      workflow('long', manual, [{ id: 'pause', wait: { duration: '1h' } }]),
    );
    const own = await mkdtemp(join(folder, 'tmp-'));
    const child = spawn(process.execPath, [program, 'run', '--local', file], {
      env: { ...process.env, TMPDIR: own, NODE_DISABLE_COMPILE_CACHE: '1' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const ended = once(child, 'exit');
    await Promise.race([once(child.stderr, 'data'), ended]);
    child.kill('SIGINT');
    expect({ exit: await ended, left: await foldersIn(own) }).toEqual({ exit: [1, null], left: [] });
  });

  test('is told where this machine has none', async () => {
    const file = await write('none.yaml', workflow('none', manual, []));
    const child = spawn(process.execPath, [program, 'run', '--local', file], {
      env: { ...process.env, PATH: folder },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const said: Buffer[] = [];
    child.stderr.on('data', (data: Buffer) => said.push(data));
    expect(await once(child, 'exit')).toEqual([3, null]);
    expect(Buffer.concat(said).toString()).toMatch(/^error: run --local needs redis-server 7 or newer/);
  });
});
