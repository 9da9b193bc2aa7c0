/**
 * The XML that S3 answers with: elements and text. Guarantees that only a complete, well-formed document is
 * read, that no entity of a document type is expanded, and that depth and attributes are bounded, so that the
 * time grows with the length alone.
 */
import sax from 'sax';

export type Element = { name: string; text: string; children: Element[] };

/** Of the entities only those of XML itself. */
const OPTIONS = { strictEntities: true, position: false };
const MOST_DEPTH = 16;
const MOST_ATTRIBUTES = 16;

/** The root element; undefined for a text that is not well-formed XML, is cut, or has a document type. */
export function parseXml(text: string): Element | undefined {
  const document: Element = { name: '', text: '', children: [] };
  const open = [document];
  let attributes = 0;
  const addText = (part: string) => {
    const element = open.at(-1);
    if (element) element.text += part;
  };
  const parser = Object.assign(sax.parser(true, OPTIONS), {
    onerror: refuse,
    ondoctype: () => refuse(new Error('document type')),
    onattribute: () => {
      attributes += 1;
      if (attributes > MOST_ATTRIBUTES) refuse(new Error('too many attributes'));
    },
    onopentag: ({ name }: { name: string }) => {
      attributes = 0;
      if (open.length > MOST_DEPTH) refuse(new Error('nested too deep'));
      // S3 uses no prefixes, and one default namespace.
      const element = { name, text: '', children: [] };
      open.at(-1)?.children.push(element);
      open.push(element);
    },
    onclosetag: () => void open.pop(),
    ontext: addText,
    oncdata: addText,
  });
  try {
    parser.write(text).close();
  } catch {
    return undefined;
  }
  const [root] = document.children;
  return document.children.length === 1 ? root : undefined;
}

function refuse(error: Error): never {
  throw error;
}

/** The text of the first child of that name. */
export function textIn(element: Element | undefined, name: string): string | undefined {
  return element?.children.find((child) => child.name === name)?.text;
}
