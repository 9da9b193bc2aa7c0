/** Rule for HTML that is composed of text and references: the value of a reference within text is escaped. */
import { toText } from '../../api/expression/evaluate.ts';
import { plainOf } from '../../api/expression/sourced.ts';
import { escapeHtml } from '../../api/html.ts';
import type { ParameterRule } from '../contract/skill.ts';

/** The rule for HTML. A value that is one reference is HTML as a whole. */
export const markup: ParameterRule = {
  // Mail programs load images, and show another text for a link than its target.
  isHiddenFromModels: true,
  compose: (given) =>
    given.kind === 'text'
      ? given.parts.map((part) => (typeof part === 'string' ? part : escapeHtml(toText(part.value)))).join('')
      : plainOf(given),
};
