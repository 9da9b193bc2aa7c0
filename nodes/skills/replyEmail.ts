/**
 * Skill `reply_email`: answers a mail of a mail trigger, so that mail programs show both as one conversation
 * (RFC 5322 section 3.6.4). Text of strangers ends in headers, so all of it is validated. Mail of programs
 * and mailing lists is not answered by default (RFC 3834): two programs that answer each other would never
 * stop.
 */
import * as z from 'zod';
import { StepError } from '../../api/reasons.ts';
import type { NodeOutput } from '../../api/value.ts';
import type { StepContext, StepResult } from '../contract/node.ts';
import { addresses, content, mailRules, multipleRecipients, sendMail, subject } from './mail.ts';
import { readMailbox, type Mailbox } from '../mail/mailbox.ts';
import { MOST_RECIPIENTS } from './recipients.ts';
import { destination, hiddenFromModels, type SkillDefinition } from '../contract/skill.ts';

/**
 * As many as an honest sender wants to be answered at: not every address that a stranger names gets a mail.
 */
const MOST_ANSWERED = 10;
/** RFC 5322 bounds a line; the first and the last are those that readers need. */
const MOST_REFERENCES = 20;
const LONGEST_SUBJECT = 900;
/** No two parts of it can take the same white space: it is linear in what a stranger wrote. */
const ANSWER = /^\s*(?:re|aw|sv|vs|antw|odp|ynt)\s*(?:\[\d+\]\s*)?:/i;
const CONTROL = /\p{Cc}/u;
const MESSAGE_ID = /^<[^\s<>\p{Cc}]{1,900}>$/u;

const line = (most: number) =>
  z
    .string('must be text')
    .max(most)
    .refine((text) => !CONTROL.test(text), 'must not hold a line break or another control character');

const answered = z
  .looseObject({
    from: line(2_100),
    reply_to: z.array(line(2_100)).max(200).optional(),
    subject: line(10_001).optional(),
    message_id: line(1_000).nullish(),
    in_reply_to: line(1_000).nullish(),
    references: z.array(line(1_000)).max(200).optional(),
    auto_submitted: line(200).nullish(),
    automatic: line(200).nullish(),
  })
  .meta({ description: "The email to answer: {{ $('trigger').data_content }} of a mail trigger." });

const parameters = z
  .strictObject({
    mail: answered,
    to: addresses(
      'Who gets the answer. Default: where the email wants to be answered (Reply-To), or its sender.',
    ).optional(),
    cc: addresses('Who gets a copy.').optional(),
    bcc: addresses('Who gets a copy without the others seeing it.').optional(),
    multipleRecipients: multipleRecipients.describe(
      'Whether a reference in to, cc and bcc may give several addresses, and whether an email may be answered that asks for answers at several (Reply-To), at most 10. Default false: exactly one.',
    ),
    subject: subject('The subject. Default: that of the email with Re: before it.').optional(),
    ...content,
    answerAutomatic: z
      .boolean()
      .optional()
      .describe('Whether email of programs and mailing lists is answered, too. Default false.'),
  })
  .refine(({ to = [], cc = [], bcc = [] }) => to.length + cc.length + bcc.length <= MOST_RECIPIENTS, {
    path: ['to'],
    message: `to, cc and bcc may have at most ${MOST_RECIPIENTS} addresses together`,
  });

type Parameters = z.infer<typeof parameters>;

export const replyEmail: SkillDefinition<Parameters> = {
  name: 'reply_email',
  description: 'Replies to an email that a mail trigger received.',
  parameters,
  // Who gets the answer follows from the mail.
  rules: { ...mailRules, mail: destination, answerAutomatic: hiddenFromModels },
  credentials: ['smtp'],
  effect: 'AtMostOnce',
  execute: reply,
};

async function reply(parameters: Parameters, context: StepContext, name?: string): Promise<StepResult> {
  const { mail, cc, bcc, html, body, answerAutomatic } = parameters;
  const sign = automaticOf(mail);
  // Before anything else of it is checked: what a program sends often names nobody to answer to.
  if (sign !== undefined && !answerAutomatic) return { output: notAnswered(sign) };
  const inReplyTo = identityOf(mail.message_id);
  const answer = {
    to: parameters.to ?? recipientsOf(mail, parameters.multipleRecipients === true),
    cc,
    bcc,
    html,
    text: body,
    inReplyTo,
    subject: parameters.subject ?? subjectOf(mail.subject ?? ''),
    references: referencesOf(mail, inReplyTo),
    isAnswer: true,
  };
  return { output: await sendMail(answer, context, name) };
}

/** What shows that no person wrote the mail; undefined where nothing does. */
function automaticOf({ automatic, auto_submitted: auto }: Parameters['mail']): string | undefined {
  return automatic ?? (auto && auto !== 'no' ? `Auto-Submitted: ${auto}` : undefined);
}

function notAnswered(sign: string): NodeOutput {
  return {
    text_content: `Not answered: a program or a mailing list sent the mail (${sign}).`,
    data_content: { message_id: null, accepted: [], rejected: [] },
  };
}

function recipientsOf({ reply_to: wanted = [], from }: Parameters['mail'], multiple: boolean): Mailbox[] {
  const to = wanted.length > 0 ? wanted : [from];
  if (to.length > 1 && !multiple)
    throw new StepError(
      'InvalidParameters',
      `the mail asks for answers at ${to.length} addresses: give to, or set multipleRecipients to true`,
    );
  if (to.length > MOST_ANSWERED)
    throw new StepError(
      'InvalidParameters',
      `the mail names more than ${MOST_ANSWERED} addresses for answers: give to`,
    );
  return to.map((text) => {
    const reading = readMailbox(text);
    if ('mailbox' in reading) return reading.mailbox;
    throw new StepError('InvalidParameters', 'the mail names no address that can be answered: give to');
  });
}

function subjectOf(text: string): string {
  const whole = ANSWER.test(text) ? text : `Re: ${text}`.trim();
  return whole.length <= LONGEST_SUBJECT
    ? whole
    : `${whole.slice(0, LONGEST_SUBJECT).replace(/[\ud800-\udbff]$/, '')}…`;
}

function identityOf(text: string | null | undefined): string | undefined {
  return text && MESSAGE_ID.test(text) ? text : undefined;
}

/**
 * Those of the mail, or else the one that it answers, and its own (RFC 5322 section 3.6.4), without what is
 * no identity; of many the first and the last.
 */
function referencesOf(mail: Parameters['mail'], own: string | undefined): string[] {
  const { references = [], in_reply_to: answered } = mail;
  const before = references.length > 0 ? references : [answered];
  const all = [...new Set([...before, own].map(identityOf))].filter((id) => id !== undefined);
  return all.length <= MOST_REFERENCES ? all : [...all.slice(0, 1), ...all.slice(1 - MOST_REFERENCES)];
}
