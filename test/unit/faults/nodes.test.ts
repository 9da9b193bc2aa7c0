import { expect, test } from 'vitest';
import { scenesOf } from '../../faults/nodes/run.ts';

const ALL = ['loss', 'drain', 'partition', 'twin', 'store'];

test.each([
  [[], ALL],
  [['store'], ['store']],
  // In the order of the suite, whatever the order of the words.
  [
    ['twin', 'loss'],
    ['loss', 'twin'],
  ],
])('the words %j choose the scenes %j of nodes', (words, scenes) => {
  expect(scenesOf(words)).toEqual(scenes);
});

test.each(['', 'node', 'loss2', 'constructor'])('"%s" is refused as the name of a scene', (word) => {
  expect(() => scenesOf([word])).toThrow(`no scene is named "${word}": choose from ${ALL.join(', ')}`);
});
