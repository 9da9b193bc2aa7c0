/** JSON text with line breaks. Every value keeps its spelling, so that no number is rounded. */

/** The text as it is if it is not the JSON of an object or a list. */
export function jsonText(text: string): string {
  if (!/^\s*[[{]/.test(text) || !isJson(text)) return text;
  let indent = 0;
  const line = (change: number): string => {
    indent += change;
    return `\n${'  '.repeat(indent)}`;
  };
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g) ?? [];
  return tokens
    .map((token, index) => {
      const isEmpty = tokens[index + 1] === CLOSING[token];
      if (token === '{' || token === '[') return isEmpty ? token : token + line(1);
      if (token === '}' || token === ']')
        return tokens[index - 1] === OPENING[token] ? token : line(-1) + token;
      if (token === ',') return token + line(0);
      return token === ':' ? ': ' : token;
    })
    .join('');
}

const CLOSING: Record<string, string> = { '{': '}', '[': ']' };
const OPENING: Record<string, string> = { '}': '{', ']': '[' };

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
