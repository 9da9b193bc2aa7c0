/** Texts of several messages as one prompt. */
import type { Question } from './question.ts';
import { listOf, objectOf, textOf } from '../model/json.ts';
import { type Value, constant, valueOf } from '../expressions/value.ts';

/** Text values, one after the other. */
export function joinTexts(values: readonly Value[]): Value | undefined {
  if (values.length < 2) return values[0];
  const parts = values.flatMap((value, index) => {
    const own =
      value.kind === 'text' ? value.parts : [{ text: textOf(value.kind === 'constant' ? value.value : '') }];
    return index === 0 ? own : [{ text: '\n\n' }, ...own];
  });
  return { kind: 'text', parts };
}

export const given = (raw: unknown): Value[] => (textOf(raw).trim() === '' ? [] : [valueOf(textOf(raw))]);

/** Messages by role: instructions, and what the user says. */
export function messagesOf(list: unknown): Pick<Question, 'prompt' | 'systemPrompt'> {
  const messages = listOf(list).map(objectOf);
  const system = messages.filter(({ role }) => role === 'system').flatMap(({ content }) => given(content));
  const rest = messages.filter(({ role }) => role !== 'system').flatMap(({ content }) => given(content));
  return { prompt: joinTexts(rest) ?? constant('-'), systemPrompt: joinTexts(system) };
}
