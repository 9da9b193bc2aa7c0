/** `windlass test`: cases beside workflows. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { windlass } from '../../support/cli/line.ts';

let folder: string;

const orders = {
  apiVersion: 'windlass.dev/v1alpha1',
  kind: 'Workflow',
  metadata: { name: 'orders' },
  spec: {
    active: true,
    nodes: [
      { id: 'start', manual: {} },
      {
        id: 'call',
        skill: {
          name: 'http_request',
          parameters: { url: "https://a.example/{{ $('start').data_content.id }}" },
        },
      },
      { id: 'reply', response: { body: "{{ $('call').data_content }}" } },
    ],
  },
};
const mocks = [{ node: 'call', output: { data_content: 'sold' } }];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'windlass-cases-'));
  await write('orders.yaml', orders);
});

afterAll(() => rm(folder, { recursive: true }));

async function write(name: string, content: unknown): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, stringify(content));
  return path;
}

test('cases that meet their expectations pass, and others say what was expected', async () => {
  const parameters = "nodes.call.parameters.url == 'https://a.example/7'";
  await write('orders.test.yaml', [
    { name: 'sold', data: { id: 7 }, mocks, expect: [{ contains: 'sold' }, { cel: parameters }] },
    { name: 'wrong', data: { id: 8 }, mocks, expect: [{ cel: parameters }] },
    { name: 'unmocked', data: { id: 9 }, phase: 'Failed', mocks: [] },
  ]);
  const report = join(folder, 'report.xml');
  const { code, stdout, stderr } = await windlass(['test', folder, '--junit', report]);
  expect({ code, stdout, stderr }).toEqual({
    code: 1,
    stdout: `✓ orders: sold\n✗ orders: wrong\n    expected cel: ${parameters}, got false\n✓ orders: unmocked\n`,
    stderr: '2 of 3 cases passed\n',
  });
  expect(await readFile(report, 'utf8')).toContain('<testsuites tests="3" failures="1"');
});

test.each([
  [
    'a mock of an unknown node',
    [{ name: 'a', mocks: [{ node: 'none', output: {} }] }],
    /case a: .*no step none/,
  ],
  ['no list', { name: 'a' }, /orders\.test\.yaml: the list of cases/],
])('cases with %s are refused', async (_what, cases, says) => {
  const { code, stdout } = await windlass(['test', await write('orders.test.yaml', cases)]);
  expect({ code, stdout }).toMatchObject({ code: 1, stdout: expect.stringMatching(says) as string });
});

test('the cases of other files are executed and reported where those of one are invalid', async () => {
  const [report, mixed] = [join(folder, 'mixed.xml'), await mkdtemp(join(folder, 'mixed-'))];
  for (const name of ['bad', 'good']) await writeFile(join(mixed, `${name}.yaml`), stringify(orders));
  await writeFile(join(mixed, 'bad.test.yaml'), '{}');
  await writeFile(join(mixed, 'good.test.yaml'), stringify([{ name: 'sold', data: { id: 7 }, mocks }]));
  const { code, stdout, stderr } = await windlass(['test', mixed, '--junit', report]);
  expect({ code, stdout, stderr }).toEqual({
    code: 1,
    stdout: expect.stringMatching(/^✗ .*bad\.test\.yaml: the list of cases: .*\n✓ orders: sold\n$/) as string,
    stderr: '1 of 1 cases passed; the cases of 1 file were not executed\n',
  });
  expect(await readFile(report, 'utf8')).toContain('<testsuites tests="2" failures="0" errors="1"');
});

test('the cases of the example pass', async () => {
  const example = join(import.meta.dirname, '../../../examples/environments');
  const line = ['test', example, '--with', join(example, 'variables.yaml')];
  expect(await windlass(line)).toMatchObject({ code: 0, stderr: '2 of 2 cases passed\n' });
});

test('a case that lacks a variable says which option names it', async () => {
  const example = join(import.meta.dirname, '../../../examples/environments');
  expect(await windlass(['test', example])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^Variables come from the ConfigMap windlass-variables: .* --with\.\n/,
    ) as string,
  });
});

test('a folder without cases, and cases without a workflow, exit with 3', async () => {
  const lonely = await mkdtemp(join(folder, 'lonely-'));
  expect(await windlass(['test', lonely])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('there are no cases') as string,
  });
  await writeFile(join(lonely, 'none.test.yaml'), '[]');
  expect(await windlass(['test', lonely])).toMatchObject({
    code: 3,
    stdout: expect.stringMatching(/cannot read .*none\.yaml: it does not exist/) as string,
  });
});
