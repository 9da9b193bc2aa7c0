/** What a collection returns, in processes of their own: the option of Node holds for a whole process. */
import { expect, test } from 'vitest';
import { runCommand } from '../test/support/process/command.ts';

const MODULE = new URL('garbageCollection.ts', import.meta.url).href;
/** A program that drops two million objects and prints how many MiB of its heap it releases. */
const PROGRAM = `
  const { garbageCollection } = await import(${JSON.stringify(MODULE)});
  const collect = garbageCollection();
  let objects = Array.from({ length: 2_000_000 }, (_, index) => ({ index }));
  const before = process.memoryUsage().heapTotal;
  objects = undefined;
  collect?.();
  console.log(collect === undefined ? 'none' : Math.round((before - process.memoryUsage().heapTotal) / 2 ** 20));
`;

const printedBy = (...options: string[]): Promise<string> =>
  runCommand(process.execPath, [...options, '--input-type=module', '--eval', PROGRAM]);

test('with --expose-gc a collection returns the memory of what was dropped', async () => {
  expect(Number(await printedBy('--expose-gc'))).toBeGreaterThan(40);
});

test('without --expose-gc there is no collection', async () => {
  expect((await printedBy()).trim()).toBe('none');
});
