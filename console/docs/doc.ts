/** A page of the documentation as data, as the bundler reads it from its Markdown file. Never markup. */

/** A place in the documentation: the name of a page, such as `triggers/mail`, and a heading of it. */
export type DocPlace = { page: string; hash?: string };

export type Inline =
  | string
  | { kind: 'code'; text: string }
  | { kind: 'strong' | 'em' | 'del'; parts: Inline[] }
  | { kind: 'break' }
  /** To another page of the documentation. */
  | { kind: 'doc'; to: DocPlace; parts: Inline[] }
  /** To another site, with `https:` or `http:`. */
  | { kind: 'link'; href: string; parts: Inline[] };

export type Block =
  | { kind: 'heading'; level: number; id: string; parts: Inline[] }
  | { kind: 'text'; parts: Inline[] }
  | { kind: 'code'; text: string }
  | { kind: 'list'; start: number | undefined; items: Block[][] }
  | { kind: 'quote'; blocks: Block[] }
  | { kind: 'table'; head: Inline[][]; rows: Inline[][][] }
  | { kind: 'rule' };

export type Heading = { id: string; level: number; text: string };

/** An entry of the table of contents. */
export type DocEntry = {
  page: string;
  title: string;
  headings: Heading[];
};

/** A page with its content, which is loaded on first use. */
export type LoadableDoc = DocEntry & { load: () => Promise<{ blocks: Block[] }> };
