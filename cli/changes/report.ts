/** The changes of manifests as text for people and as Markdown for comments. */
import type { FieldChange, ObjectChange } from './compare.ts';

/** A value is cut to so many characters around what differs. */
const VALUE_LENGTH = 160;
/** Characters before what differs. */
const CONTEXT_LENGTH = 40;
/** GitHub refuses comments above 65,536 characters. */
const MARKDOWN_LENGTH = 60_000;

const SIGNS: Readonly<Record<ObjectChange['change'], string>> = { Created: '+', Changed: '~', Deleted: '-' };

/** A line for each object and for each value of a field, old before new. */
export function asText(changes: readonly ObjectChange[]): string {
  return changes
    .flatMap((change) => [
      `${SIGNS[change.change]} ${titleOf(change)}`,
      ...change.fields.flatMap(linesOf).map((line) => `    ${line}`),
    ])
    .join('\n');
}

/** A list of the objects, each with a diff. What is too much for a comment is left out and counted. */
export function asMarkdown(changes: readonly ObjectChange[]): string {
  if (changes.length === 0) return 'No Windlass object would change.\n';
  let text = `${counted(changes)}\n`;
  for (const [index, change] of changes.entries()) {
    const section = sectionOf(change);
    if (text.length + section.length > MARKDOWN_LENGTH)
      return `${text}\n… and ${changes.length - index} more objects, which are too long for a comment.\n`;
    text += section;
  }
  return text;
}

function counted(changes: readonly ObjectChange[]): string {
  const count = (kind: ObjectChange['change']) => changes.filter(({ change }) => change === kind).length;
  const parts = [`${count('Created')} created`, `${count('Changed')} changed`, `${count('Deleted')} deleted`];
  return `Windlass objects: ${parts.join(', ')}.`;
}

function sectionOf(change: ObjectChange): string {
  const title = `\n**${change.change}** ${codeOf(titleOf(change))}\n`;
  const lines = change.fields.flatMap(linesOf);
  if (lines.length === 0) return title;
  const fence = fenceFor(lines.join('\n'));
  return `${title}\n${fence}diff\n${lines.join('\n')}\n${fence}\n`;
}

/** Longer than any row of backquotes in the text, so that no value ends the block. */
function fenceFor(text: string): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([row]) => row.length));
  return '`'.repeat(longest + 1);
}

const codeOf = (text: string) => `\`${text.replaceAll('`', "'")}\``;

function titleOf({ kind, name, namespace }: ObjectChange): string {
  return `${kind}/${name}${namespace === '' ? '' : ` in ${namespace}`}`;
}

function linesOf({ path, before, after }: FieldChange): string[] {
  const start = Math.max(0, firstDifference(before ?? '', after ?? '') - CONTEXT_LENGTH);
  const line = (sign: string, value: string | undefined) =>
    value === undefined ? [] : [`${sign} ${path}: ${cut(value, before && after ? start : 0)}`];
  return [...line('-', before), ...line('+', after)];
}

function firstDifference(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
}

function cut(text: string, start: number): string {
  const from = text.length <= VALUE_LENGTH ? 0 : start;
  const shown = text.slice(from, from + VALUE_LENGTH);
  return `${from > 0 ? '…' : ''}${shown}${from + VALUE_LENGTH < text.length ? '…' : ''}`;
}
