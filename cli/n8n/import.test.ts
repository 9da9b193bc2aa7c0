/** Files and folders of exports, in a file system in memory. */
import { expect, test } from 'vitest';
import { exported, node, order, report } from '../../test/support/n8n/workflows.ts';
import { type ImportIo, importN8n } from './import.ts';

/** A file system of texts by path. Paths without a text are folders. */
function memory(files: Record<string, string>): ImportIo & { written: Map<string, string> } {
  const written = new Map<string, string>();
  return {
    written,
    isFolder: (path) =>
      !Object.hasOwn(files, path) && Object.keys(files).some((file) => file.startsWith(`${path}/`)),
    list: (folder) => Object.keys(files).filter((file) => file.startsWith(`${folder}/`)),
    read: (path) => {
      if (!Object.hasOwn(files, path)) throw new Error('no such file');
      return files[path] ?? '';
    },
    write: (path, text) => written.set(path, text),
  };
}

test('each document is a file, beside the report', () => {
  const io = memory({ 'in/order.json': JSON.stringify(order) });
  const { written, coverage } = importN8n(['in'], 'out', io);
  expect(written).toEqual([
    'out/credential-shop.yaml',
    'out/credential-smtp.yaml',
    'out/workflow-order.yaml',
    'out/import-report.json',
  ]);
  expect([...io.written.keys()]).toEqual(written);
  expect(coverage).toEqual({ nodes: 6, converted: 6, review: 0, manual: 0 });
});

test('a file that is no workflow is reported, and the others are imported', () => {
  const io = memory({ 'in/a.json': '{', 'in/b.json': '[]', 'in/order.json': JSON.stringify(order) });
  const { files } = importN8n(['in', 'missing.json'], 'out', io);
  expect(files.map(({ file, problem }) => [file, problem?.split(':')[0]])).toEqual([
    ['in/a.json', 'the file is no JSON'],
    ['in/b.json', 'this is no n8n workflow'],
    ['in/order.json', undefined],
    ['missing.json', 'the file cannot be read'],
  ]);
  expect(io.written.has('out/workflow-order.yaml')).toBe(true);
});

test('workflows of an import name each other as they are named after it', () => {
  const alarm = exported('Send an alarm', [node('Error', 'errorTrigger')], [], { id: 'err1' });
  const io = memory({ 'in/alarm.json': JSON.stringify(alarm), 'in/report.json': JSON.stringify(report) });
  importN8n(['in'], 'out', io);
  expect(io.written.get('out/workflow-nightly-report.yaml')).toContain(
    'onFailure:\n    workflow: send-an-alarm',
  );
});

test('two workflows of one name are two files', () => {
  const io = memory({ 'in/a.json': JSON.stringify(order), 'in/b.json': JSON.stringify(order) });
  expect(importN8n(['in'], 'out', io).written.filter((path) => path.includes('workflow-'))).toEqual([
    'out/workflow-order.yaml',
    'out/workflow-order-2.yaml',
  ]);
});
