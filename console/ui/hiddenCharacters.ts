/** The extension of CodeMirror that shows the characters which hide or reorder what stands in a text. */
import { highlightSpecialChars } from '@codemirror/view';
import { HIDDEN } from './visibleText.ts';

/** A colleague, a model or a caller may have written the text. */
export const HIDDEN_CHARACTERS = highlightSpecialChars({ addSpecialChars: HIDDEN });
