/** Rule for HTML that is composed of text and references: the value of a reference within text is escaped. */
import { toText } from '../../api/expression/evaluate.ts';
import { plainOf } from '../../api/expression/sourced.ts';
import type { ParameterRule } from '../contract/skill.ts';

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** The rule for HTML. A value that is one reference is HTML as a whole. */
export const markup: ParameterRule = {
  // Mail programs load images, and show another text for a link than its target.
  isHiddenFromModels: true,
  compose: (given) =>
    given.kind === 'text'
      ? given.parts.map((part) => (typeof part === 'string' ? part : escaped(toText(part.value)))).join('')
      : plainOf(given),
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
}
