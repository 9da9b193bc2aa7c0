/** The little of XML that S3 answers with: elements without attributes, one in another, and text. Nothing is ever expanded. */

/** What stands in the first element of that name; undefined where there is none. */
export function elementOf(text: string, name: string): string | undefined {
  return elementsOf(text, name).next().value;
}

/** What stands in each element of that name, none of which lies in another of its name. */
export function* elementsOf(text: string, name: string): Generator<string, undefined> {
  const close = `</${name}>`;
  for (let at = 0; ; ) {
    const open = startOf(text, name, at);
    if (open === undefined) return undefined;
    const end = text.indexOf(close, open);
    if (end < 0) return undefined;
    yield text.slice(open, end);
    at = end + close.length;
  }
}

/** Where what stands in the element begins. */
function startOf(text: string, name: string, from: number): number | undefined {
  for (let at = text.indexOf(`<${name}`, from); at >= 0; at = text.indexOf(`<${name}`, at + 1)) {
    const next = text[at + name.length + 1];
    if (next === '>') return at + name.length + 2;
    // The root names its namespace.
    if (next !== ' ') continue;
    const end = text.indexOf('>', at);
    if (end >= 0) return end + 1;
  }
  return undefined;
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

/** The text of the first element of that name. */
export function textIn(text: string, name: string): string | undefined {
  return elementOf(text, name)?.replaceAll(/&(#x?[0-9a-f]{1,6}|[a-z]{1,5});/gi, (whole, entity: string) => {
    if (!entity.startsWith('#')) return ENTITIES[entity] ?? whole;
    const hex = /^#x(.+)$/i.exec(entity)?.[1];
    const code = hex === undefined ? Number(entity.slice(1)) : Number.parseInt(hex, 16);
    return code <= 0x10_ff_ff ? String.fromCodePoint(code) : whole;
  });
}
