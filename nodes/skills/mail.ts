/** What the skills that send mail have in common. Guarantees that no header holds a line break, and that one effect key is one Message-ID. */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { NodeOutput } from '../../api/value.ts';
import { partOf, type StepContext } from '../node.ts';
import { deliver, type Delivery, type Mail } from './smtp.ts';
import { textParameter } from './skill.ts';

export const MOST_RECIPIENTS = 100;
const LONGEST_SUBJECT = 998;
const BODY_LIMIT = 524_288;
const CONTROL = /\p{Cc}/u;
const ADDRESS = /^[^\s@<>(),;:\\"[\]]+@[^\s@<>(),;:\\"[\]]+$/;
const WITH_NAME = /^(?<name>[^<>]*)<(?<address>[^<>]+)>$/;

const isAddress = (text: string) => ADDRESS.test((WITH_NAME.exec(text)?.groups?.['address'] ?? text).trim());

/** One address, with or without a name. */
export const address = z
  .string('must be an address such as "Ada <ada@example.com>"')
  .max(512)
  .refine((text) => !CONTROL.test(text), 'must not hold a line break or another control character')
  .refine(isAddress, 'must be one address such as "Ada <ada@example.com>"');

/** A list of addresses, which may stand in one text. */
export const addresses = (description: string) =>
  z
    .preprocess(
      (value) => (typeof value === 'string' ? splitAddresses(value) : value),
      z.array(address, 'must be an address or a list of addresses').max(MOST_RECIPIENTS),
    )
    .meta({ description });

/** The subject of a mail. */
export const subject = (description: string) =>
  textParameter(LONGEST_SUBJECT, description).refine(
    (text) => !CONTROL.test(text),
    'must not hold a line break or another control character',
  );

/** The text of a mail and the same as HTML. */
export const content = {
  body: textParameter(BODY_LIMIT, 'The text.'),
  html: textParameter(BODY_LIMIT, 'The same as HTML, for readers that show it.').optional(),
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

/** The same for each delivery of one logical attempt, so that a reader's mail program can tell a repeated mail. */
function messageIdOf(effectKey: string, from: string): string {
  const domain = /@([A-Za-z0-9.-]+)>?\s*$/.exec(from)?.[1] ?? 'windlass.invalid';
  return `<${createHash('sha256').update(effectKey).digest('hex').slice(0, 40)}@${domain}>`;
}

/** Parts at commas that stand outside quotes: a name such as "Lovelace, Ada" keeps its own. */
function splitAddresses(text: string): string[] {
  return (text.match(/(?:"[^"]*"|[^,"])+/g) ?? []).map((part) => part.trim()).filter((part) => part !== '');
}
