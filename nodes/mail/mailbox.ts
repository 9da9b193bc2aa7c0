/**
 * One mailbox of a mail: a name and an address. Guarantees that a text counts as one mailbox only if the mail
 * library's parser and a stricter parser here agree, so that no text hides a second address. The time is
 * bounded, since the length is.
 */
import parseAddresses from 'nodemailer/lib/addressparser';

export type Mailbox = { name: string; address: string };

/**
 * Characters of a mailbox, counted before it is parsed: RFC 5321 section 4.5.3.1 admits 256 for the address.
 */
export const LONGEST_MAILBOX = 512;

const CONTROL = /[\p{Cc}\u2028\u2029]/u;
/**
 * No quotes, comments, groups, white space, or characters that some programs take for a dot, an @ or a comma.
 */
const ADDRESS =
  /^[^\s\p{C}\p{Z}@<>(),;:\\"[\]\u3002\uff00-\uff65]+@[^\s\p{C}\p{Z}@<>(),;:\\"[\]\u3002\uff00-\uff65]+$/u;
/** White space that is not a plain space may stand in quotes alone. */
const WITH_NAME =
  /^ *(?:"(?:[^"\\]|\\.)*"|[^<>()",;:\\\p{Zl}\p{Zp}\t\u00a0\u1680\u2000-\u200b\u202f\u205f\u3000\ufeff])*<(?<address>[^<>]*)> *$/u;
const NOT_ONE = 'must be exactly one address such as "Ada <ada@example.com>"';

/** The mailbox that a text names, or why it names none. */
export type MailboxReading = { mailbox: Mailbox } | { problem: string };

/** Reads a text such as `Ada <ada@example.com>`. */
export function readMailbox(text: string): MailboxReading {
  if (text.length > LONGEST_MAILBOX)
    return { problem: `must be one address of at most ${LONGEST_MAILBOX} characters` };
  if (CONTROL.test(text)) return { problem: 'must not hold a line break or another control character' };
  const [found, ...more] = parseAddresses(text);
  const address = WITH_NAME.exec(text)?.groups?.['address'] ?? text;
  if (!found || found.group || more.length > 0 || found.address !== address.replaceAll(/^ +| +$/g, ''))
    return { problem: NOT_ONE };
  return checkMailbox({ name: found.name, address: found.address });
}

/** Checks a mailbox whose name and address are known apart. Nothing of them is parsed. */
export function checkMailbox({ name, address }: Mailbox): MailboxReading {
  if (name.length + address.length > LONGEST_MAILBOX)
    return { problem: `must be one address of at most ${LONGEST_MAILBOX} characters` };
  if (CONTROL.test(name) || CONTROL.test(address))
    return { problem: 'must not hold a line break or another control character' };
  // The mail library, and servers, write the domain in compatible characters: `﹐` becomes a comma there, `⑴`
  // a comment.
  const isOne = ADDRESS.test(address) && ADDRESS.test(address.normalize('NFKC'));
  return isOne ? { mailbox: { name, address } } : { problem: NOT_ONE };
}
