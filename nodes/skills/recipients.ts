/**
 * Rules for parameters that name recipients of a mail. Guarantees that a reference gives exactly one mailbox,
 * whatever the data, unless the step sets `multipleRecipients: true`, and that only the text of the author
 * decides where a mailbox ends.
 */
import { toText } from '../../api/expression/evaluate.ts';
import type { Given, SourcedValue } from '../../api/expression/sourced.ts';
import type { CompiledValue } from '../../api/expression/template.ts';
import { StepError } from '../../api/reasons.ts';
import {
  checkMailbox,
  LONGEST_MAILBOX,
  readMailbox,
  type Mailbox,
  type MailboxReading,
} from '../mail/mailbox.ts';
import type { ParameterRule } from '../contract/skill.ts';
import { splitAtCommas } from './split.ts';

/** Of one mail, in all fields together. */
export const MOST_RECIPIENTS = 100;

type Part = string | Given;

/** Mailboxes, in one text or in a list. */
export const recipients: ParameterRule = {
  isDestination: true,
  check: checkLiterals,
  compose: (given, { multipleRecipients }) => mailboxesOf(given, multipleRecipients === true),
};

/** One mailbox. */
export const recipient: ParameterRule = {
  isDestination: true,
  compose: (given) => {
    const mailboxes = mailboxesOf(given, false);
    if (mailboxes.length === 1) return mailboxes[0];
    throw invalid('must be exactly one address such as "Ada <ada@example.com>"');
  },
};

/**
 * What the author wrote between two commas without a reference is one mailbox. The schema checks the elements
 * of a list.
 */
function checkLiterals(template: CompiledValue): void {
  for (const parts of template.kind === 'text' ? splitAtCommas(template.parts) : []) {
    if (!parts.every((part) => typeof part === 'string')) continue;
    const reading = readMailbox(parts.join('').trim());
    if ('problem' in reading) throw invalid(reading.problem);
  }
}

/** What the schema cannot take for a mailbox is left to it. */
function mailboxesOf(given: SourcedValue, multiple: boolean): unknown[] {
  switch (given.kind) {
    case 'literal':
      return typeof given.value === 'string'
        ? splitAtCommas<Given>([given.value]).map(mailboxOf)
        : [given.value].flat();
    case 'reference':
      return fromReference(given, multiple);
    case 'text':
      return splitAtCommas(given.parts).flatMap((parts) => fromParts(parts, multiple));
    case 'list':
      return given.items.flatMap((item) => fromItem(item, multiple));
    case 'object':
      throw invalid('must be an address or a list of addresses');
  }
}

function fromItem(item: SourcedValue, multiple: boolean): unknown[] {
  if (item.kind === 'reference') return fromReference(item, multiple);
  if (item.kind === 'text') return fromParts(item.parts, multiple);
  if (item.kind === 'literal') return [item.value];
  throw invalid('must be an address or a list of addresses');
}

/**
 * A reference that stands for itself may give several mailboxes; one with text around it is a part of one.
 */
function fromParts(parts: readonly Part[], multiple: boolean): unknown[] {
  const [only, ...more] = parts.filter((part) => typeof part !== 'string' || part.trim() !== '');
  return typeof only === 'object' && more.length === 0 ? fromReference(only, multiple) : [mailboxOf(parts)];
}

function fromReference({ reference, value }: Given, multiple: boolean): Mailbox[] {
  if (multiple) return severalOf(reference, value);
  const reading = typeof value === 'string' ? readMailbox(value) : undefined;
  if (reading && 'mailbox' in reading) return [reading.mailbox];
  const what = Array.isArray(value) ? `a list of ${value.length} values` : `a value that ${NOT_ONE}`;
  throw invalid(
    `${reference} gave ${what}: a reference must give one address, unless the step sets multipleRecipients: true`,
  );
}

const NOT_ONE = 'is not exactly one address';

function severalOf(reference: string, value: unknown): Mailbox[] {
  const tooMany = () => invalid(`${reference} gave more than ${MOST_RECIPIENTS} addresses: give fewer`);
  if (typeof value === 'string' && value.length > MOST_RECIPIENTS * (LONGEST_MAILBOX + 2)) throw tooMany();
  const texts = typeof value === 'string' ? splitAtCommas<Given>([value]).map(textOf) : value;
  if (!Array.isArray(texts)) throw invalid(`${reference} gave neither a text nor a list of addresses`);
  if (texts.length > MOST_RECIPIENTS) throw tooMany();
  return texts.map((text: unknown) => {
    const reading: MailboxReading = typeof text === 'string' ? readMailbox(text) : { problem: 'is not text' };
    if ('mailbox' in reading) return reading.mailbox;
    throw invalid(`${reference} gave a list with a value that ${NOT_ONE}`);
  });
}

/**
 * One mailbox of literal text and references. Where the author wrote the angle brackets, what stands before
 * them is the name and what stands between them the address; without them it is a bare address. The library
 * parses only what holds no reference.
 */
function mailboxOf(parts: readonly Part[]): unknown {
  if (parts.every((part) => typeof part === 'string')) return parts.join('').trim();
  const { name, address } = atBrackets(parts);
  const reading = checkMailbox({ name: unquoted(textOf(name)), address: textOf(address).trim() });
  if ('mailbox' in reading) return reading.mailbox;
  const references = parts.flatMap((part) => (typeof part === 'string' ? [] : [part.reference]));
  throw invalid(`with what ${references.join(' and ')} gave, it ${reading.problem}`);
}

function atBrackets(parts: readonly Part[]): { name: readonly Part[]; address: readonly Part[] } {
  const open = parts.findIndex((part) => typeof part === 'string' && part.includes('<'));
  const [first, last] = [parts[open], parts.at(-1)];
  if (typeof first !== 'string' || typeof last !== 'string') return { name: [], address: parts };
  const [at, end] = [first.indexOf('<'), last.trimEnd().length - 1];
  if (last.charAt(end) !== '>') return { name: [], address: parts };
  const name = [...parts.slice(0, open), first.slice(0, at)];
  if (open === parts.length - 1) return { name, address: [first.slice(at + 1, end)] };
  return { name, address: [first.slice(at + 1), ...parts.slice(open + 1, -1), last.slice(0, end)] };
}

function textOf(parts: readonly Part[]): string {
  return parts.map((part) => (typeof part === 'string' ? part : toText(part.value))).join('');
}

/** An author may write quotes around the name. */
function unquoted(name: string): string {
  const text = name.trim();
  return text.length > 1 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text;
}

function invalid(problem: string): StepError {
  return new StepError('InvalidParameters', problem);
}
