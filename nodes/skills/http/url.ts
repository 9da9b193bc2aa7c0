/**
 * Rule for a URL that is composed of text and references. Guarantees that the value of a reference stays in
 * its place: it is encoded for the path or query, it neither ends a path segment nor leads up, and it does
 * not change a scheme, host or port that the author wrote. A URL that is one reference, or begins with one,
 * is chosen by the data.
 */
import { toText } from '../../../api/expression/evaluate.ts';
import { printReference } from '../../../api/expression/reference.ts';
import type { Given } from '../../../api/expression/sourced.ts';
import type { CompiledValue } from '../../../api/expression/template.ts';
import { StepError } from '../../../api/reasons.ts';
import type { ParameterRule } from '../../contract/skill.ts';
import { urlProblem } from '../../http/url.ts';

type Part = string | Given;

const BEGINNING = /^https?:\/\//i;
/** Scheme and host are complete. */
const WITH_HOST = /^https?:\/\/[^/?#\\]*[/?#\\]/i;
/** What a reference at the beginning may give: scheme, host, port and path. */
const BASE = /^https?:\/\/[^\s\p{Cc}/?#\\@]+(?:\/[^\s\p{Cc}?#\\]*)?$/iu;
const LABELS = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/i;
const HOST = /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;
const PORT = /^\d{1,5}$/;
const ENDS_HOST = /^(?:$|[:/?#\\])/;

/** The rule for the parameter `url`. */
export const urlRule: ParameterRule = {
  isDestination: true,
  check: (template) => {
    if (template.kind !== 'text') return;
    const problem = urlProblem(composeURL(placeholdersIn(template)));
    if (problem !== undefined) throw invalid(problem);
  },
  compose: (given) => {
    if (given.kind === 'text') return composeURL(given.parts);
    return given.kind === 'literal' || given.kind === 'reference' ? given.value : undefined;
  },
};

/** Values that fit anywhere, to check the text around them. */
function placeholdersIn({ parts }: Extract<CompiledValue, { kind: 'text' }>): Part[] {
  return parts.map((part, index) => {
    if (typeof part === 'string') return part;
    const isFirst = parts.slice(0, index).every((each) => typeof each === 'string' && each.trim() === '');
    return { reference: printReference(part), value: isFirst ? 'https://1' : '1' };
  });
}

/**
 * The URL with each value encoded for its place.
 * @throws StepError `InvalidParameters`
 */
function composeURL(parts: readonly Part[]): string {
  let url = '';
  // The same with a plain segment in the place of each value behind the host.
  let shape = '';
  for (const [index, part] of parts.entries()) {
    const isBehindHost = WITH_HOST.test(url);
    const text = typeof part === 'string' ? part : placed(part, url, parts[index + 1]);
    shape += typeof part === 'string' || !isBehindHost ? text : '1';
    url += text;
  }
  requireSamePlace(url, shape);
  return url;
}

function placed(given: Given, before: string, after: Part = ''): string {
  const text = toText(given.value).toWellFormed();
  if (WITH_HOST.test(before)) return encodeURIComponent(text);
  if (before === '')
    return required(BASE, text, given, 'must give a URL without a query, such as https://api.example.com');
  if (!BEGINNING.test(before))
    throw invalid('must begin with https:// or http:// before its first reference');
  return placedInHost(given, text, { host: before.replace(BEGINNING, ''), after });
}

/** A host of which the author wrote the end stays below that end. */
function placedInHost(given: Given, text: string, { host, after }: { host: string; after: Part }): string {
  const isEnd = typeof after === 'string' && ENDS_HOST.test(after);
  if (host.endsWith(':')) return required(PORT, text, given, 'must give the number of a port');
  if (host === '' && isEnd && !after.startsWith(':')) return required(HOST, text, given, 'must give a host');
  if (!isEnd || host === '' || host.endsWith('.'))
    return required(LABELS, text, given, 'must give a name within a host');
  throw invalid(
    `${given.reference} stands directly behind the host, which it could change: write a / before it`,
  );
}

function required(pattern: RegExp, text: string, { reference }: Given, problem: string): string {
  if (pattern.test(text)) return text;
  throw invalid(`${reference} ${problem}`);
}

/**
 * The values of the path are segments, or parts of such: none is empty, and none makes the parser of URLs go
 * up.
 */
function requireSamePlace(url: string, shape: string): void {
  // The schema says what is wrong with a text that is no URL.
  if (!URL.canParse(url) || !URL.canParse(shape)) return;
  const [given, expected] = [new URL(url), new URL(shape)];
  const [segments, planned] = [given.pathname.split('/'), expected.pathname.split('/')];
  const isSame = given.origin === expected.origin && segments.length === planned.length;
  if (isSame && segments.every((each, index) => each !== '' || planned[index] === '')) return;
  throw invalid(
    'a reference in the path gave an empty text, "." or "..": it must give a segment of the path',
  );
}

function invalid(problem: string): StepError {
  return new StepError('InvalidParameters', problem);
}
