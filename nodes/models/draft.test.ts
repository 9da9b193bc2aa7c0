/** What a hostile server cannot put into an answer. */
import { expect, test } from 'vitest';
import { addCall, addText, emptyDraft, finishedAnswer } from './draft.ts';
import { LONGEST_ID } from './messages.ts';

const LONG = 'x'.repeat(1_000_000);

test('words of the server are cut, and texts are well-formed', () => {
  const draft = { ...emptyDraft(), chunks: 1, model: `${LONG}m`, finishReason: LONG };
  addText(draft, 'Hi\ud83d');
  for (const id of [LONG, LONG, 'a', 'i'.repeat(LONGEST_ID)]) addCall(draft, id, `${LONG}n`);
  const word = 'x'.repeat(256);
  expect(finishedAnswer(draft, 'm')).toMatchObject({
    text: 'Hi\ufffd',
    model: word,
    finishReason: word,
    toolCalls: ['call_0', 'call_1', 'a', 'i'.repeat(LONGEST_ID)].map((id) => ({ id, name: word })),
  });
});
