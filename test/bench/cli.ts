/** `cli`: how long commands of `windlass` take from start to end, in the package that is published. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { bundledCommandLine } from '../../images/bundle.ts';
import { layOut } from '../../images/files.ts';
import { median, type Figure } from './report.ts';

const ROUNDS = 9;
const MANY = 1_000;

const workflow = (name: string) => ({
  apiVersion: 'windlass.dev/v1alpha1',
  kind: 'Workflow',
  metadata: { name },
  spec: {
    active: true,
    nodes: [
      { id: 'start', manual: { testData: { name: 'Ada' } } },
      {
        id: 'greet',
        skill: { name: 'set', parameters: { values: { text: 'nodes.start.data_content.name' } } },
      },
      { id: 'reply', response: { body: "{{ $('greet').data_content.text }}" } },
    ],
  },
});

const exported = (name: string) => ({
  name,
  nodes: [
    {
      id: '1',
      name: 'Webhook',
      type: 'n8n-nodes-base.webhook',
      typeVersion: 2,
      position: [0, 0],
      parameters: { path: name, httpMethod: 'POST' },
    },
    {
      id: '2',
      name: 'Call',
      type: 'n8n-nodes-base.httpRequest',
      typeVersion: 4,
      position: [200, 0],
      parameters: { url: '=https://a.example/{{ $json.body.id }}' },
    },
  ],
  connections: { Webhook: { main: [[{ node: 'Call', type: 'main', index: 0 }]] } },
});

/** The figures; each is the median of several starts, after one that fills Node's compile cache. */
export async function cli(): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'windlass-bench-cli-'));
  try {
    await layOut(await bundledCommandLine(), folder);
    const files = await writeFiles(folder);
    const windlass = (...line: string[]) => secondsOf([join(folder, 'app/windlass.mjs'), ...line]);
    return [
      await figure('--help', 150, ROUNDS, () => windlass('--help')),
      await figure('lint of one workflow', 300, ROUNDS, () => windlass('lint', files.one)),
      await figure(`lint of ${MANY} workflows`, 5_000, 3, () => windlass('lint', files.many)),
      await figure('run --local of three nodes', 600, ROUNDS, () => windlass('run', '--local', files.one)),
      await figure(`import of ${MANY} workflows`, 30_000, 3, () =>
        windlass('import', 'n8n', files.exports, '-o', join(folder, 'out'), '--force'),
      ),
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function writeFiles(folder: string): Promise<{ one: string; many: string; exports: string }> {
  const files = {
    one: join(folder, 'one.yaml'),
    many: join(folder, 'many'),
    exports: join(folder, 'exports'),
  };
  await mkdir(files.many);
  await mkdir(files.exports);
  await writeFile(files.one, stringify(workflow('one')));
  for (let index = 0; index < MANY; index += 1) {
    await writeFile(join(files.many, `w${index}.yaml`), stringify(workflow(`w${index}`)));
    await writeFile(join(files.exports, `e${index}.json`), JSON.stringify(exported(`e${index}`)));
  }
  return files;
}

async function figure(
  name: string,
  most: number,
  rounds: number,
  measure: () => Promise<number>,
): Promise<Figure> {
  await measure();
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) times.push(await measure());
  return { name, value: median(times) * 1_000, unit: 'ms', goal: { at: 'most', value: most, of: 'value' } };
}

/** @throws if the command fails, which would make its time worthless */
async function secondsOf(args: readonly string[]): Promise<number> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, { stdio: 'ignore' });
  const [code] = (await once(child, 'exit')) as [number | null];
  const seconds = (performance.now() - startedAt) / 1_000;
  if (code !== 0) throw new Error(`${args.slice(1).join(' ')} exited with ${code}`);
  return seconds;
}
