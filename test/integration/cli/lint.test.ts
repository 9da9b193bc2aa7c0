/** `windlass lint` beside the API server, for the same manifests; and what it reads. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { Linter } from '../../../cli/lint/lint.ts';
import { createClient, type KubeClient } from '../../../kube/client.ts';
import { namespaces } from '../../../kube/resource.ts';
import { windlass } from '../../support/cli/line.ts';
import type { ApiServer } from '../../support/cluster/apiserver.ts';
import { createObjectApplier, type ObjectApplier } from '../../support/cluster/objectApplier.ts';
import { sharedApiServer } from '../../support/cluster/sharedApiServer.ts';
import { readMistakes } from '../../mistakes/mistakes.ts';
import { REFUSED_CREDENTIALS, REFUSED_PROJECT_SETTINGS } from '../api/refused/others.ts';
import { REFUSED_DURATIONS, REFUSED_WORKFLOWS } from '../api/refused/workflows.ts';

let server: ApiServer;
let client: KubeClient;
let applier: ObjectApplier;
let folder: string;

beforeAll(async () => {
  server = await sharedApiServer();
  client = createClient(server.connection);
  applier = createObjectApplier(server);
  folder = await mkdtemp(join(tmpdir(), 'windlass-lint-'));
  await client.create(namespaces, { metadata: { name: 'lint' } });
}, 600_000);

afterAll(async () => {
  await applier?.close();
  await client?.close();
  await server?.stop();
  if (folder) await rm(folder, { recursive: true });
});

/** What a user reads who applies the manifest. */
const apply = (manifest: string): Promise<string> =>
  applier.create(manifest, { namespace: 'lint', dryRun: true });

/** The messages of what the API server checks. */
async function linted(text: string): Promise<string[]> {
  const linter = new Linter();
  linter.add({ file: 'a.yaml', text });
  const { findings } = await linter.finish();
  return findings.filter(({ rule }) => rule === 'Schema').map(({ message }) => message);
}

const manifestOf = (kind: string, spec: unknown) =>
  stringify({ apiVersion: 'windlass.dev/v1alpha1', kind, metadata: { name: 'default' }, spec });

/** Where it is, and the sentence after the value, which the API server shows in other ways. */
const sentenceOf = (message: string) =>
  /^unknown field|Required value|Duplicate value|Too/.test(message)
    ? message
    : (message.split(': ').at(-1) ?? '');

const REFUSED = Object.entries({
  Workflow: [...REFUSED_WORKFLOWS, ...REFUSED_DURATIONS],
  Credential: REFUSED_CREDENTIALS,
  ProjectSettings: REFUSED_PROJECT_SETTINGS,
}).flatMap(([kind, cases]) => cases.map(([what, spec]) => [kind, what, spec] as const));

describe('lint says nothing else than the API server', () => {
  test.each(REFUSED)('about a %s with %s', async (kind, _what, spec) => {
    const manifest = manifestOf(kind, spec);
    const [messages, said] = await Promise.all([linted(manifest), apply(manifest)]);
    expect(messages).not.toEqual([]);
    for (const message of messages) expect(said).toContain(sentenceOf(message));
  });

  test.each(readMistakes().map((mistake) => [mistake.wrong, mistake.manifest] as const))(
    'about %s',
    async (_wrong, manifest) => {
      const linter = new Linter();
      linter.add({ file: 'a.yaml', text: manifest });
      const { findings, objects } = await linter.finish();
      const refused = findings.some(({ rule }) => rule === 'Schema' || rule === 'YAML') || objects === 0;
      expect({ refused }).toEqual({ refused: !(await apply(manifest)).includes('created') });
    },
  );
});

describe('lint reads', () => {
  const manifest = manifestOf('Workflow', { active: true, nodes: [{ id: 'start', manual: {} }] });

  test('10,000 files in folders, of which it skips those of other programs', async () => {
    const many = join(folder, 'many');
    for (const part of ['a', '.git', 'node_modules']) await mkdir(join(many, part), { recursive: true });
    const write = (name: string, text: string) => writeFile(join(many, name), text);
    for (let at = 0; at < 10_000; at += 500)
      await Promise.all(
        Array.from({ length: 500 }, (_, index) => write(`a/${at + index}.yaml`, 'kind: Other\n')),
      );
    await write('a/w.yml', manifest);
    await write('.git/w.yml', manifest);
    await write('node_modules/w.yml', manifest);
    await write('a/notes.txt', 'a: [');
    expect(await windlass(['lint', many])).toEqual({
      code: 0,
      stdout: '',
      stderr: 'nothing wrong in 1 object\n',
    });
  });

  test('the standard input', async () => {
    const { code, stdout } = await windlass(['lint', '-'], { input: `${manifest}---\na: [` });
    expect({ code, stdout }).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^-:\d+:\d+: error: error parsing/) as string,
    });
  });

  test.each([
    ['a file that does not exist', ['none.yaml'], /cannot read .*none\.yaml: it does not exist/],
    ['a device without an end', ['/dev/zero'], /\/dev\/zero is larger than 32 MiB/],
    ['a folder without manifests', ['empty'], /these files have no manifest of Windlass/],
  ])('%s, and exits with 3', async (_what, names, says) => {
    await mkdir(join(folder, 'empty'), { recursive: true });
    const { code, stderr } = await windlass(['lint', ...names.map((name) => resolve(folder, name))]);
    expect({ code, stderr }).toMatchObject({ code: 3, stderr: expect.stringMatching(says) as string });
  });

  test('and with --strict fails for a warning', async () => {
    const file = join(folder, 'warned.yaml');
    await writeFile(file, manifestOf('Workflow', { nodes: [{ id: 'start', manual: {} }] }));
    expect((await windlass(['lint', file])).code).toBe(0);
    expect((await windlass(['lint', '--strict', file])).code).toBe(1);
  });
});
