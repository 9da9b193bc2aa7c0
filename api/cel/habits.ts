/**
 * Syntax of other languages that people write in CEL, with what to write instead. The first match is a better message than the
 * parser's.
 */

const HABITS: readonly { written: RegExp; instead: string; isWord?: true }[] = [
  {
    written: /\{\{|\$\(|\$\w+/,
    instead:
      "{{ }} and $('…') have no meaning in CEL: write nodes.trigger.data_content.name, and a text in quotes of its own",
  },
  { written: /[=!]==/, instead: 'CEL compares with == and !=' },
  { written: /<>/, instead: 'CEL compares with !=' },
  { written: /(?<![=!<>])=(?!=)/, instead: 'CEL compares with ==, and = has no meaning' },
  {
    written: /(?<![\w.])(?:and|or|not)(?!\w)/i,
    instead: 'CEL has &&, || and ! for and, or and not',
    isWord: true,
  },
  {
    written: /(?<![\w.])(?:True|False|None|nil|undefined)(?!\w)/,
    instead: 'CEL writes true, false and null',
  },
];

const QUOTED = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g;

/** The habit in an expression that cannot be read, and its offset; undefined where there is none. */
export function habitIn(source: string): { offset: number; instead: string } | undefined {
  const bare = withoutTexts(source);
  const isText = isBareText(source);
  for (const { written, instead, isWord } of HABITS) {
    // In a text without its quotes they are words like others.
    if (isWord && isText) continue;
    const offset = bare.search(written);
    if (offset !== -1) return { offset, instead };
  }
  return undefined;
}

/** Whether an expression that cannot be read is likely a text that somebody forgot to quote: words, and nothing of a node. */
export function isBareText(source: string): boolean {
  return source.trim() !== '' && !/["'([]|\bnodes\b|[&|<>+*]|[=!]=/.test(source);
}

/** What to say of such a text: the quotes of YAML are none of CEL. */
export const QUOTES_NEEDED = 'text needs quotes inside those of YAML: \'"some text"\'';

/** The same length, so that offsets stay. */
function withoutTexts(source: string): string {
  return source.replaceAll(QUOTED, (text) => ' '.repeat(text.length));
}
