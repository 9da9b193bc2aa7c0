/**
 * Reads manifests from YAML or JSON as kubectl does (YAML 1.1 words such as `yes` are booleans, a key may not
 * be repeated), and keeps where each value is. Guarantees an answer for any text: aliases are followed within
 * a limit, and what is nested too deeply is a problem of the document.
 */
import {
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Document,
  type Node,
  type Pair,
  parseAllDocuments,
  type ParsedNode,
  type Tags,
  visit,
} from 'yaml';
import { isRecord } from '../../api/record.ts';
import type { Path } from '../schema/types.ts';

/** Where something is in a file; line and column count from 1. */
export type Place = { line: number; column: number };

export type Manifest = {
  /** The whole object as JSON. */
  value: Record<string, unknown>;
  /** Where the value is; of a path that does not exist, where the nearest value around it is. */
  place: (path: Path) => Place;
  /** Where the name of a field is. */
  placeOfName: (path: Path) => Place;
  /** Names of fields that are words such as `yes` or `n`, which kubectl stores as `true` or `false`. */
  booleanNames: () => (Place & { name: string; stored: string })[];
};

type ParseProblem = Place & { message: string };

export type Parsed = { manifests: Manifest[]; problems: ParseProblem[] };

/** References to anchors beyond this are refused: ten lines can stand for gigabytes. */
const MAX_ALIASES = 100;

/** The objects of a text, those of a `List` one by one, in its order. */
export function parseManifests(text: string): Parsed {
  const lines = new LineCounter();
  const documents = parseDocuments(text, lines);
  if (!Array.isArray(documents)) return { manifests: [], problems: [documents] };
  const read = documents.map((document) => readDocument(document, lines));
  return {
    manifests: read.flatMap(({ manifests }) => manifests),
    problems: read.flatMap(({ problems }) => problems),
  };
}

const TOO_DEEP = 'the document is nested too deeply to be read';

/** What kubectl reads as text: sexagesimal numbers, times and binary data. */
const isPlainTag = (tag: Tags[number]): boolean =>
  typeof tag === 'string' ||
  !(('format' in tag && tag.format === 'TIME') || /:(?:timestamp|binary|set|omap|pairs)$/.test(tag.tag));

function parseDocuments(text: string, lines: LineCounter): Document.Parsed[] | ParseProblem {
  try {
    const documents = parseAllDocuments(text, {
      lineCounter: lines,
      prettyErrors: false,
      version: '1.1',
      merge: true,
      logLevel: 'silent',
      customTags: (tags) => tags.filter(isPlainTag),
    });
    return 'empty' in documents ? [] : documents;
  } catch (error) {
    return tooDeep(error);
  }
}

function tooDeep(error: unknown): ParseProblem {
  if (!(error instanceof RangeError)) throw error;
  return { line: 1, column: 1, message: TOO_DEEP };
}

function readDocument(document: Document.Parsed, lines: LineCounter): Parsed {
  const at = (offset = 0): Place => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const [error] = document.errors;
  if (error) return withProblem({ ...at(error.pos[0]), message: messageOf(error) });
  const { contents } = document;
  // Other programs have files with lists and texts.
  if (!isMap(contents)) return { manifests: [], problems: [] };
  try {
    const problem =
      problemOfKeys(document, at) ?? problemOfQuestionMarks(document, at) ?? problemOfAliases(document, at);
    if (problem) return withProblem(problem);
    const value = document.toJS({ maxAliasCount: MAX_ALIASES }) as Record<string, unknown>;
    return { manifests: objectsIn(value, contents, at), problems: [] };
  } catch (error) {
    if (error instanceof ReferenceError)
      return withProblem({ ...at(contents.range[0]), message: TOO_MANY_ALIASES });
    return withProblem(tooDeep(error));
  }
}

function messageOf({ message }: Error): string {
  return message.startsWith('Maximum call stack') ? TOO_DEEP : `error parsing: ${message}`;
}

const TOO_MANY_ALIASES = `the document refers to anchors more than ${MAX_ALIASES} times, or to one that does not exist: write the values out`;

const withProblem = (problem: ParseProblem): Parsed => ({ manifests: [], problems: [problem] });

/** A value that contains itself. */
function problemOfAliases(
  document: Document.Parsed,
  at: (offset?: number) => Place,
): ParseProblem | undefined {
  let problem: ParseProblem | undefined;
  visit(document, {
    Alias: (_, alias, around) => {
      if (!around.some((each) => each === alias.resolve(document))) return undefined;
      problem = {
        ...at(alias.range?.[0]),
        message: `the value of the anchor ${alias.source} contains itself`,
      };
      return visit.BREAK;
    },
  });
  return problem;
}

/** A key that is a map, such as that of `a: {{ b }}` without quotes. */
function problemOfKeys(document: Document.Parsed, at: (offset?: number) => Place): ParseProblem | undefined {
  let problem: ParseProblem | undefined;
  visit(document, {
    Pair: (_, { key }) => {
      if (isScalar(key) || !isNode(key) || (!isMap(key) && !isSeq(key))) return undefined;
      const message =
        'error parsing: the name of a field is a map or a list: put quotes around text that begins with { or [';
      problem = { ...at(key.range?.[0]), message };
      return visit.BREAK;
    },
  });
  return problem;
}

/** Text without quotes inside `[]` or `{}` that has a question mark: the parser of kubectl ends it there. */
function problemOfQuestionMarks(
  document: Document.Parsed,
  at: (offset?: number) => Place,
): ParseProblem | undefined {
  let problem: ParseProblem | undefined;
  visit(document, {
    Scalar: (_, { type, source = '', range }, around) => {
      const isInFlow = around.some((each) => (isMap(each) || isSeq(each)) && each.flow === true);
      if (type !== 'PLAIN' || !source.includes('?') || !isInFlow) return undefined;
      const message =
        'error parsing: kubectl reads no text with a question mark inside [] or {}: put quotes around it';
      problem = { ...at(range?.[0]), message };
      return visit.BREAK;
    },
  });
  return problem;
}

function objectsIn(
  value: Record<string, unknown>,
  node: ParsedNode,
  at: (offset?: number) => Place,
): Manifest[] {
  const whole = manifestOf(value, node, [], at);
  const { kind, items } = value;
  if (typeof kind !== 'string' || !kind.endsWith('List') || !Array.isArray(items)) return [whole];
  return items
    .map((item: unknown, index) => ({ item, index }))
    .filter((each): each is { item: Record<string, unknown>; index: number } => isRecord(each.item))
    .map(({ item, index }) => manifestOf(item, node, ['items', index], at));
}

function manifestOf(
  value: Record<string, unknown>,
  root: ParsedNode,
  prefix: Path,
  at: (offset?: number) => Place,
): Manifest {
  return {
    value,
    place: (path) => at(nodesAlong(root, [...prefix, ...path]).node.range?.[0]),
    placeOfName: (path) => {
      const { node, key } = nodesAlong(root, [...prefix, ...path]);
      return at((key ?? node).range?.[0]);
    },
    booleanNames: () => booleanNamesIn(nodesAlong(root, prefix).node, at),
  };
}

function booleanNamesIn(node: Node, at: (offset?: number) => Place): ReturnType<Manifest['booleanNames']> {
  const found: ReturnType<Manifest['booleanNames']> = [];
  visit(node, {
    Pair: (_, { key }) => {
      if (!isScalar(key) || typeof key.value !== 'boolean' || key.source === String(key.value)) return;
      found.push({ ...at(key.range?.[0]), name: key.source ?? '', stored: String(key.value) });
    },
  });
  return found;
}

/** The last value along a path, and the name of its field. */
function nodesAlong(root: ParsedNode, path: Path): { node: Node; key?: Node } {
  let found: { node: Node; key?: Node } = { node: root };
  for (const part of path) {
    const next = memberOf(found.node, part);
    if (!next) return found;
    found = next;
  }
  return found;
}

function memberOf(node: Node, part: string | number): { node: Node; key?: Node } | undefined {
  if (isSeq(node)) {
    const item = node.items[Number(part)];
    return isNode(item) ? { node: item } : undefined;
  }
  if (!isMap(node)) return undefined;
  const pair = node.items.find(({ key }: Pair) => isScalar(key) && String(key.value) === String(part));
  if (!pair || !isNode(pair.key)) return undefined;
  return { node: isNode(pair.value) ? pair.value : pair.key, key: pair.key };
}
