/** Text of strangers and models with the characters that hide or reorder what stands there made visible. */

/**
 * Control characters (also those of terminals) except tabs and line breaks, embeddings and overrides of the
 * direction, characters without a width, tags and variation selectors that carry hidden texts. What writing
 * systems need, such as joiners and marks of direction, is left out.
 */
export const HIDDEN =
  /(?![\t\n])[\p{Cc}\u200b\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]|[\u{e0100}-\u{e01ef}]/gu;

/** The text with each hidden character as its code, such as [U+202E]. */
export function visibleText(text: string): string {
  return text.replaceAll(HIDDEN, (character) => `[U+${codeOf(character)}]`);
}

/** At most 60 characters: a name must not hide the rest of a sentence that warns of what has it. */
const BEGINNING = /^.{0,60}/su;

/** A name that a colleague or a model wrote: short, and with its hidden characters visible. */
export function nameInSentence(name: string): string {
  const visible = visibleText(name);
  const [first = visible] = BEGINNING.exec(visible) ?? [];
  return first === visible ? visible : `${first}…`;
}

function codeOf(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
}
