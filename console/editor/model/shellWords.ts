/** The words of a command as a POSIX shell splits them (POSIX.1-2024, Shell Command Language, 2.2). Pure. */

/** Nothing is expanded: a command with variables or substitutions is a problem. */
export function wordsOf(text: string): { words: string[] } | { problem: string } {
  const words: string[] = [];
  let word: string | undefined;
  const line = text.replaceAll(/\\\r?\n/g, ' ').trim();
  const tokens = new RegExp(TOKEN);
  while (tokens.lastIndex < line.length) {
    const token = tokens.exec(line)?.groups;
    if (token === undefined) return { problem: 'A quotation mark of this command has no end.' };
    const { space, end, double = '', plain = '' } = token;
    if (/`|\$[({A-Za-z_]/.test(double + plain))
      return {
        problem: 'This command has a variable or a substitution of the shell. Paste it with its values.',
      };
    if (end !== undefined) break;
    if (space === undefined) word = (word ?? '') + textOf(token);
    else if (word !== undefined) word = void words.push(word);
  }
  if (word !== undefined) words.push(word);
  return { words };
}

type Token = Record<string, string | undefined>;

function textOf({ single, ansi, double, escaped, plain }: Token): string {
  if (ansi !== undefined) return unescaped(ansi);
  return single ?? escaped ?? plain ?? (double ?? '').replaceAll(/\\([\\"$`])/g, '$1');
}

/** Quoted in three ways, an escaped character, space, the end of the command, or plain characters. */
const TOKEN =
  /(?:'(?<single>[^']*)'|\$'(?<ansi>(?:[^'\\]|\\[^])*)'|"(?<double>(?:[^"\\]|\\[^])*)"|\\(?<escaped>[^])|(?<space>\s+)|(?<end>[|;&<>])|(?<plain>[^\s'"\\|;&<>$]+|\$(?!')[^\s'"\\|;&<>]*))/y;

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

/** The text of `$'…'`, which browsers write for bodies with quotation marks. */
function unescaped(text: string): string {
  return text.replaceAll(
    /\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([^]))/g,
    (_all, wide?: string, byte?: string, other = '') =>
      (wide ?? byte)
        ? String.fromCodePoint(Number.parseInt(wide ?? byte ?? '0', 16))
        : (ESCAPES[other as string] ?? (other as string)),
  );
}
