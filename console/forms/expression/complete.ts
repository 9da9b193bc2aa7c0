/**
 * Completion of expressions: nodes, their members, and the content of their last output. Pure. Text outside
 * of braces is not completed. A second dot, typed after one that a completion inserted, counts as one.
 */
import { RUN_MEMBERS } from '../../../api/expression/reference.ts';
import { celStep } from './cel.ts';
import {
  childrenOf,
  isExecuted,
  memberHelp,
  typeLabel,
  type Child,
  type Source,
  type Sources,
} from '../source.ts';

export type Option = {
  /** Replaces the text between `from` and the cursor. */
  insert: string;
  label: string;
  detail: string;
  /** The value has members: show the next options at once. */
  hasMore: boolean;
};

export type Completion = { from: number; options: Option[] };

/** Options for a text with references in braces and the cursor at `at`. */
export function completeTemplate(text: string, at: number, sources: Sources): Completion | undefined {
  const open = openBraces(text, at);
  if (open === undefined) return undefined;
  const inside = text.slice(open, at);
  const start = /^\s*/.exec(inside)?.[0].length ?? 0;
  return completePath(inside.slice(start), open + start, TEMPLATE, sources);
}

/** Options for a CEL expression with the cursor at `at`. */
export function completeCel(text: string, at: number, sources: Sources): Completion | undefined {
  const before = text.slice(0, at);
  if (isInQuotes(before.replace(/\[\s*(?:"[^"]*"|'[^']*')\s*\]/g, '')) && !/\[\s*["'][^"']*$/.test(before))
    return undefined;
  const written = /(?:nodes|item|previous|run)(?:\.\w*|\[[^\]]*\]?)+$|\w+$/.exec(before)?.[0] ?? '';
  if (written === '' && /[\w.\])]$/.test(before)) return undefined;
  return completePath(written, at - written.length, CEL, sources);
}

type Dialect = {
  node: (id: string) => string;
  /** The URL of a callback; CEL has none. */
  url?: (id: string) => string;
  item: string;
  index: string;
  previous: string;
  step: (child: Child) => string;
  start: RegExp;
  /** Names beside nodes, with the members that they always have. */
  names: readonly { name: string; detail: string; members: readonly string[] }[];
};

const TEMPLATE: Dialect = {
  node: (id) => `$('${id}')`,
  url: (id) => `$url('${id}')`,
  item: '$item',
  index: '$index',
  previous: '$previous',
  step: ({ written }) => written,
  start: /^\$\(\s*(['"])(?<id>[^'"]*)\1\s*\)/,
  names: namesOf('$'),
};

const CEL: Dialect = {
  node: (id) => `nodes.${id}`,
  item: 'item',
  index: 'index',
  previous: 'previous',
  step: ({ step }) => celStep(step),
  start: /^nodes\.(?<id>\w+)(?=[.[])/,
  names: namesOf(''),
};

function namesOf(prefix: '$' | ''): Dialect['names'] {
  return [
    { name: `${prefix}run`, detail: 'this run', members: RUN_MEMBERS },
    { name: `${prefix}vars`, detail: 'variables of the project', members: [] },
  ];
}

/** `written` is the started reference, beginning at `from`. */
function completePath(
  written: string,
  from: number,
  dialect: Dialect,
  sources: Sources,
): Completion | undefined {
  const started = dialect.start.exec(written);
  const source = sources.nodes.find(({ id }) => id === started?.groups?.['id']);
  if (started !== null && source === undefined) return undefined;
  if (source !== undefined && started !== null)
    return completeMembers(written, { from, offset: started[0].length }, dialect, source);
  const { element, previous } = sources;
  if (
    previous !== undefined &&
    written.startsWith(dialect.previous) &&
    /[.[]/.test(written.charAt(dialect.previous.length))
  )
    return completeMembers(written, { from, offset: dialect.previous.length }, dialect, previous);
  const [, root = '', member] = /^(\$?\w+)\.{1,2}(\w*)$/.exec(written) ?? [];
  const known = dialect.names.find(({ name }) => name === root);
  if (known !== undefined && member !== undefined) {
    const options = known.members.map((name): Option => ({ ...PLAIN, insert: `.${name}`, label: name }));
    return completion(from + root.length, options, member);
  }
  const offset = dialect.item.length;
  if (element !== undefined && written.startsWith(dialect.item) && /[.[]/.test(written.charAt(offset)))
    return completeBelow(written, { from, offset }, dialect, element.item);
  return completion(from, [...startsOf(dialect, sources), ...fieldsOf(written, dialect, sources)], written);
}

/** The fields of data whose name begins with a word of two letters or more, as n8n completes names alone. */
function fieldsOf(written: string, dialect: Dialect, { nodes }: Sources): Option[] {
  if (!/^\p{L}[\p{L}\p{N}_]+$/u.test(written)) return [];
  return nodes
    .filter(isExecuted)
    .toReversed()
    .flatMap(({ id, output }) =>
      childrenOf(output.data_content)
        .filter(({ step }) => plain(String(step)).startsWith(plain(written)))
        .map((child): Option => {
          const path = `${dialect.node(id)}.data_content${dialect.step(child)}`;
          const hasMore = childrenOf(child.value).length > 0;
          return { insert: path, label: path, detail: typeLabel(child.value), hasMore };
        }),
    );
}

const PLAIN = { detail: '', hasMore: false };

function startsOf(dialect: Dialect, { nodes, element, previous, callbacks = [] }: Sources): Option[] {
  const known = nodes
    .filter(isExecuted)
    .toReversed()
    .map(
      (source): Option => ({
        insert: `${dialect.node(source.id)}.`,
        label: dialect.node(source.id),
        detail: source.label === source.id ? source.kind : source.label,
        hasMore: true,
      }),
    );
  const before: Option[] = previous
    ? [
        {
          insert: `${dialect.previous}.`,
          label: dialect.previous,
          detail: previousHelp(previous, nodes),
          hasMore: true,
        },
      ]
    : [];
  const { url } = dialect;
  const urls = url
    ? callbacks.map(
        (id): Option => ({ ...PLAIN, insert: url(id), label: url(id), detail: 'URL of the callback' }),
      )
    : [];
  const ofRun = dialect.names.map(
    ({ name, detail, members }): Option => ({
      insert: `${name}.`,
      label: name,
      detail,
      hasMore: members.length > 0,
    }),
  );
  const names = [...urls, ...ofRun];
  if (element === undefined) return [...known, ...before, ...names];
  const isDeep = childrenOf(element.item).length > 0;
  return [
    { insert: dialect.item, label: dialect.item, detail: `item of ${element.loop}`, hasMore: isDeep },
    { insert: dialect.index, label: dialect.index, detail: 'index of the item, from 0', hasMore: false },
    ...known,
    ...before,
    ...names,
  ];
}

function previousHelp(previous: Source, nodes: readonly Source[]): string {
  return nodes.includes(previous) ? `output of ${previous.label}` : `last output of ${previous.label}`;
}

type Spot = { from: number; offset: number };

function completeMembers(
  written: string,
  spot: Spot,
  dialect: Dialect,
  source: Source,
): Completion | undefined {
  const rest = written.slice(spot.offset);
  const member = source.members.find((name) => new RegExp(`^\\.${name}(?=[.[])`).test(rest));
  if (member !== undefined && member !== 'text_content') {
    const offset = spot.offset + member.length + 1;
    return completeBelow(written, { from: spot.from, offset }, dialect, source.output[member]);
  }
  if (!/^\.{1,2}\w*$/.test(rest)) return undefined;
  const options = source.members.map(
    (name): Option => ({
      insert: `.${name}`,
      label: name,
      detail: memberHelp(source, name),
      hasMore: childrenOf(source.output[name]).length > 0,
    }),
  );
  return completion(spot.from + spot.offset, options, rest);
}

const WHOLE_STEP =
  /^(?:\.(?<name>[\p{L}_$][\p{L}\p{N}_$]*)|\[\s*(?<index>\d+)\s*\]|\[\s*(?<quote>['"])(?<key>.*?)\k<quote>\s*\])(?=[.[])/u;

/** Follows the complete steps; the rest is the step being typed. */
function completeBelow(
  written: string,
  { from, offset }: Spot,
  dialect: Dialect,
  root: unknown,
): Completion | undefined {
  let value = root;
  let rest = written.slice(offset);
  for (let step = WHOLE_STEP.exec(rest); step !== null; step = WHOLE_STEP.exec(rest)) {
    const { name, index, key } = step.groups ?? {};
    const wanted = index === undefined ? (name ?? key) : Number(index);
    value = childrenOf(value).find((child) => child.step === wanted)?.value;
    rest = rest.slice(step[0].length);
  }
  if (!/^(\.{1,2}[\p{L}\p{N}_$]*|\[[^\]]*)$/u.test(rest)) return undefined;
  const options = childrenOf(value).map(
    (child): Option => ({
      insert: dialect.step(child),
      label: typeof child.step === 'number' ? `[${child.step}]` : child.step,
      detail: typeLabel(child.value),
      hasMore: childrenOf(child.value).length > 0,
    }),
  );
  return completion(from + written.length - rest.length, options, rest);
}

/** The options that contain the typed text. */
function completion(from: number, options: Option[], written: string): Completion | undefined {
  const typed = plain(written);
  const fitting = options.filter(({ label }) => plain(label).includes(typed));
  return fitting.length === 0 ? undefined : { from, options: fitting };
}

function plain(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}_]/gu, '');
}

/**
 * Where the cursor is after `typed` repeats what a completion has written: a space or a brace before the
 * closing braces. undefined: it is new text.
 */
export function typedOver(text: string, at: number, typed: string): number | undefined {
  if (openBraces(text, at) === undefined) return undefined;
  const rest = text.slice(at);
  if (typed === ' ') return rest.startsWith(' }}') ? at + 1 : undefined;
  if (typed !== '}') return undefined;
  const closing = text[at - 1] === '}' ? /^\}/ : /^ ?\}(?=\})/;
  const over = closing.exec(rest)?.[0];
  return over === undefined ? undefined : at + over.length;
}

/** The position after the braces that enclose `at`. */
function openBraces(text: string, at: number): number | undefined {
  const before = text.slice(0, at);
  const open = before.lastIndexOf('{{');
  if (open === -1 || before.indexOf('}}', open) !== -1) return undefined;
  return open + 2;
}

function isInQuotes(text: string): boolean {
  let quote = '';
  for (const char of text.replace(/\\./g, '')) {
    if (quote !== '') quote = char === quote ? '' : quote;
    else if (char === '"' || char === "'") quote = char;
  }
  return quote !== '';
}
