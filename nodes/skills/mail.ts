/**
 * What the skills that send mail share. Guarantees that no header contains a line break, that each recipient
 * is one mailbox that is not parsed again, and that one effect key gives one Message-ID.
 */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { NodeOutput } from '../../api/value.ts';
import { partOf, type StepContext } from '../contract/node.ts';
import { checkMailbox, readMailbox, type Mailbox } from '../mail/mailbox.ts';
import { markup } from './markup.ts';
import { MOST_RECIPIENTS, recipients } from './recipients.ts';
import { writtenByAuthor, textParameter } from '../contract/skill.ts';
import { deliver, type Delivery, type Mail } from '../providers/smtp/delivery.ts';

const LONGEST_SUBJECT = 998;
const BODY_LIMIT = 524_288;
const CONTROL = /\p{Cc}/u;

/** One address, with or without a name: a text, or a mailbox that a rule has made of it. */
export const address = z
  .unknown()
  .transform((value, context): Mailbox => {
    const reading = isMailbox(value)
      ? checkMailbox(value)
      : readMailbox(typeof value === 'string' ? value : '');
    if ('mailbox' in reading) return reading.mailbox;
    context.addIssue({ code: 'custom', message: reading.problem });
    return z.NEVER;
  })
  .meta({ type: 'string' });

/**
 * Addresses, each of them one mailbox. A text is one, too: `recipients` takes apart what the author of the
 * workflow wrote.
 */
export const addresses = (description: string) =>
  z
    .preprocess(
      (value) => (typeof value === 'string' ? [value] : value),
      z.array(address, 'must be an address or a list of addresses').max(MOST_RECIPIENTS),
    )
    .meta({ description });

export const multipleRecipients = z
  .boolean('must be true or false')
  .optional()
  .describe(
    'Whether a reference in to, cc and bcc may give several addresses, as a list or with commas between. Not for values that strangers choose. Default false: each reference gives exactly one.',
  );

/** The rules of the parameters that skills for mail share. */
export const mailRules = {
  html: markup,
  to: recipients,
  cc: recipients,
  bcc: recipients,
  multipleRecipients: writtenByAuthor,
};

/** The subject of a mail. */
export const subject = (description: string) =>
  textParameter(LONGEST_SUBJECT, description).refine(
    (text) => !CONTROL.test(text),
    'must not hold a line break or another control character',
  );

/** The text of a mail and the same as HTML. */
export const content = {
  body: textParameter(BODY_LIMIT, 'The text of the email.'),
  html: textParameter(
    BODY_LIMIT,
    'The same as HTML, for readers that show it. What a reference within text gives is shown as text; a reference alone gives HTML.',
  ).optional(),
};

/**
 * Sends a mail by the credential, whose address is the sender.
 * @throws StepError
 */
export async function sendMail(
  mail: Omit<Mail, 'from' | 'messageId'>,
  context: StepContext,
  name = '',
): Promise<NodeOutput> {
  const credential = await context.credential(name);
  const smtp = partOf(credential, 'smtp');
  const password = smtp.passwordRef && credential.secret(smtp.passwordRef);
  const messageId = messageIdOf(context.effectKey, smtp.from);
  const delivery = await deliver({ ...mail, from: smtp.from, messageId }, { smtp, password }, context);
  return outputOf(messageId, delivery);
}

function outputOf(messageId: string, { accepted, rejected }: Delivery): NodeOutput {
  const refused = rejected.length === 0 ? '' : `; ${rejected.length} refused`;
  return {
    text_content: `Sent to ${accepted.join(', ')}${refused}.`,
    data_content: { message_id: messageId, accepted, rejected },
  };
}

/**
 * The same for each delivery of one logical attempt, so that a reader's mail program can tell a repeated
 * mail.
 */
function messageIdOf(effectKey: string, from: string): string {
  const domain = /@([A-Za-z0-9.-]+)>?\s*$/.exec(from)?.[1] ?? 'windlass.invalid';
  return `<${createHash('sha256').update(effectKey).digest('hex').slice(0, 40)}@${domain}>`;
}

function isMailbox(value: unknown): value is Mailbox {
  if (typeof value !== 'object' || value === null) return false;
  const { name, address: of } = value as Partial<Mailbox>;
  return typeof name === 'string' && typeof of === 'string';
}
