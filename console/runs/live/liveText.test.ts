import { expect, test } from 'vitest';
import { createLiveTexts } from './liveText.ts';

test('listeners are notified once per frame, however many pieces arrive', () => {
  const frames: (() => void)[] = [];
  const texts = createLiveTexts((run) => frames.push(run));
  let told = 0;
  texts.subscribe(() => (told += 1));
  for (let piece = 0; piece < 1_000; piece += 1) texts.append('agent', 'x');
  expect(frames).toHaveLength(1);
  frames[0]?.();
  expect(told).toBe(1);
  expect(texts.read('agent').text).toHaveLength(1_000);
});

test('another attempt starts with an empty text', () => {
  const texts = createLiveTexts((run) => run());
  texts.append('agent', 'half');
  const { beginning } = texts.read('agent');
  texts.restart('agent');
  expect(texts.read('agent')).toEqual({ text: '', beginning: beginning + 1 });
  expect(texts.read('other')).toEqual({ text: '', beginning: 0 });
});
