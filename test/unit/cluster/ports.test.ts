import { expect, test } from 'vitest';
import { chooseBlock, portBlock } from '../../cluster/builtin/ports.ts';

const free = async () => true;

test('blocks do not touch each other', () => {
  expect(portBlock(0)).toEqual({ nodePorts: [30_000, 30_098], api: 30_099 });
  expect(portBlock(1)).toEqual({ nodePorts: [30_100, 30_198], api: 30_199 });
});

test('a new cluster gets the first block that no other cluster has, running or not', async () => {
  expect(await chooseBlock(new Set([0, 2]), free)).toBe(1);
});

test('a block with a port that another program listens on is passed over', async () => {
  expect(await chooseBlock(new Set(), async ({ api }) => api !== 30_099)).toBe(1);
});

test('no block reaches the ports that the kernel takes for outgoing connections', async () => {
  const taken = new Set(Array.from({ length: 26 }, (_, index) => index));
  expect(portBlock(await chooseBlock(taken, free)).api).toBeLessThan(32_768);
  await expect(chooseBlock(taken.add(26), free)).rejects.toThrow('no 100 free ports');
});
