/**
 * Skill `send_email`: sends one mail through an SMTP account. Guarantees that no header holds a line break, and that a
 * mail that the server may have taken is reported as in doubt, since no mail server dedupes (RFC 5321 section 6.1).
 */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { NodeOutput } from '../../api/value.ts';
import { partOf, type StepContext, type StepResult } from '../node.ts';
import { deliver, type Delivery, type Mail } from './smtp.ts';
import { textParameter, type SkillDefinition } from './skill.ts';

const MOST_RECIPIENTS = 100;
const CONTROL = /\p{Cc}/u;
const ADDRESS = /^[^\s@<>(),;:\\"[\]]+@[^\s@<>(),;:\\"[\]]+$/;
const WITH_NAME = /^(?<name>[^<>]*)<(?<address>[^<>]+)>$/;
const BODY_LIMIT = 524_288;

const isAddress = (text: string) => ADDRESS.test((WITH_NAME.exec(text)?.groups?.['address'] ?? text).trim());

const address = z
  .string('must be an address such as "Ada <ada@example.com>"')
  .max(512)
  .refine((text) => !CONTROL.test(text), 'must not hold a line break or another control character')
  .refine(isAddress, 'must be one address such as "Ada <ada@example.com>"');

const addresses = (description: string) =>
  z
    .preprocess(
      (value) => (typeof value === 'string' ? splitAddresses(value) : value),
      z.array(address, 'must be an address or a list of addresses').max(MOST_RECIPIENTS),
    )
    .meta({ description });

const parameters = z
  .strictObject({
    to: addresses('Who gets it: an address, several with commas between, or a list.'),
    cc: addresses('Who gets a copy.').optional(),
    bcc: addresses('Who gets a copy without the others seeing it.').optional(),
    replyTo: address.optional().describe('Where answers go.'),
    subject: textParameter(998, 'The subject: one line.').refine(
      (text) => !CONTROL.test(text),
      'must not hold a line break or another control character',
    ),
    body: textParameter(BODY_LIMIT, 'The text.'),
    html: textParameter(BODY_LIMIT, 'The same as HTML, for readers that show it.').optional(),
  })
  .refine((mail) => recipients(mail).length > 0, { path: ['to'], message: 'must name at least one address' })
  .refine((mail) => recipients(mail).length <= MOST_RECIPIENTS, {
    path: ['to'],
    message: `to, cc and bcc may have at most ${MOST_RECIPIENTS} addresses together`,
  });

type Parameters = z.infer<typeof parameters>;

export const sendEmail: SkillDefinition<Parameters> = {
  name: 'send_email',
  description: 'Sends an e-mail.',
  parameters,
  credentials: ['smtp'],
  effect: 'AtMostOnce',
  execute: send,
};

async function send(parameters: Parameters, context: StepContext, name = ''): Promise<StepResult> {
  const credential = await context.credential(name);
  const smtp = partOf(credential, 'smtp');
  const password = smtp.passwordRef && credential.secret(smtp.passwordRef);
  const { body, ...rest } = parameters;
  const messageId = messageIdOf(context.effectKey, smtp.from);
  const mail: Mail = { ...rest, from: smtp.from, text: body, messageId };
  const delivery = await deliver(mail, { smtp, password }, context);
  return { output: outputOf(messageId, delivery) };
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

function recipients({ to, cc = [], bcc = [] }: { to: string[]; cc?: string[]; bcc?: string[] }): string[] {
  return [...to, ...cc, ...bcc];
}

/** Parts at commas that stand outside quotes: a name such as "Lovelace, Ada" keeps its own. */
function splitAddresses(text: string): string[] {
  return (text.match(/(?:"[^"]*"|[^,"])+/g) ?? []).map((part) => part.trim()).filter((part) => part !== '');
}
