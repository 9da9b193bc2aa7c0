/**
 * Skill `send_email`: sends one mail through an SMTP account. Mail servers do not deduplicate (RFC 5321
 * section 6.1), so a mail that may have been accepted is reported as in doubt.
 */
import * as z from 'zod';
import type { StepContext, StepResult } from '../contract/node.ts';
import { address, addresses, content, mailRules, multipleRecipients, sendMail, subject } from './mail.ts';
import type { Mailbox } from '../mail/mailbox.ts';
import { MOST_RECIPIENTS, recipient } from './recipients.ts';
import type { SkillDefinition } from '../contract/skill.ts';

const parameters = z
  .strictObject({
    to: addresses(
      'Who gets it: an address, several with commas between, or a list. A reference gives exactly one, see multipleRecipients.',
    ),
    cc: addresses('Who gets a copy.').optional(),
    bcc: addresses('Who gets a copy without the others seeing it.').optional(),
    replyTo: address.optional().meta({ type: 'string', description: 'Where answers go: one address.' }),
    multipleRecipients,
    subject: subject('The subject: one line.'),
    ...content,
  })
  .refine((mail) => everyone(mail).length > 0, { path: ['to'], message: 'must name at least one address' })
  .refine((mail) => everyone(mail).length <= MOST_RECIPIENTS, {
    path: ['to'],
    message: `to, cc and bcc may have at most ${MOST_RECIPIENTS} addresses together`,
  });

type Parameters = z.infer<typeof parameters>;

export const sendEmail: SkillDefinition<Parameters> = {
  name: 'send_email',
  description: 'Sends an email.',
  parameters,
  rules: { ...mailRules, replyTo: recipient },
  credentials: ['smtp'],
  effect: 'AtMostOnce',
  execute: send,
};

async function send(parameters: Parameters, context: StepContext, name?: string): Promise<StepResult> {
  const { body, multipleRecipients: _read, ...rest } = parameters;
  return { output: await sendMail({ ...rest, text: body }, context, name) };
}

function everyone({ to, cc = [], bcc = [] }: { to: Mailbox[]; cc?: Mailbox[]; bcc?: Mailbox[] }): Mailbox[] {
  return [...to, ...cc, ...bcc];
}
