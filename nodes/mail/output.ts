/**
 * Builds the output of mail triggers. Guarantees that it is not larger than the limit; `truncated` marks what
 * was left out. The same mail and fields give the same output.
 */
import type { MailTrigger } from '../../api/trigger.ts';
import type { NodeOutput } from '../../api/value.ts';
import type { MailAttachment, MailContent, MailHeader } from './content.ts';

/** Attachments above this size come without content unless the trigger says otherwise. */
const MAX_ATTACHMENT_BYTES = 262_144;
const MOST_ATTACHMENTS = 300;
/** What the list of attachments, and each list of the header, may have of an output. */
const MOST_LISTED_BYTES = 131_072;
const MOST_HEADER_BYTES = 32_768;
/** Of the room that the header and the list of attachments leave. */
const SHARE_OF_TEXT = 0.25;
const CUT = '…';

type Attachment = { filename: string | null; content_type: string; size: number; content?: string };

/**
 * The output, at most `maxBytes` of JSON. `received` is when the server got the mail: the date of one that
 * has none. Contents are kept in order for as long as they fit; text and HTML have a share of the room each,
 * and what is left.
 */
export function outputOf(
  mail: MailContent,
  trigger: MailTrigger,
  received: Date,
  maxBytes: number,
): NodeOutput {
  const { html: page } = mail;
  const listed = trigger.attachments === 'None' ? [] : mail.attachments;
  const attachments = within(listed.map(described), MOST_LISTED_BYTES).slice(0, MOST_ATTACHMENTS);
  const header = headerFields(mail.header, received);
  const data = { ...header, attachments };
  let room = maxBytes - sizeOf({ text_content: '', data_content: { ...data, html: '', truncated: false } });
  const share = Math.max(0, Math.floor(room * SHARE_OF_TEXT));
  const [textNeeds, pageNeeds] = [mail.text, page ?? ''].map((text) => Math.min(share, sizeOf(text)));
  room -= addContents(mail, attachments, trigger, room - (textNeeds ?? 0) - (pageNeeds ?? 0));
  const text = cut(mail.text, room - (pageNeeds ?? 0));
  const html = page === undefined ? null : cut(page, room - sizeOf(text));
  const isCut = text !== mail.text.toWellFormed() || (html !== null && html !== page?.toWellFormed());
  const isListCut = attachments.length < listed.length || hasLess(header, mail.header);
  const truncated = mail.truncated || isCut || isListCut;
  return { text_content: text, data_content: { ...data, html, truncated } };
}

function headerFields(header: MailHeader, received: Date) {
  return {
    from: header.from,
    subject: header.subject,
    date: header.date ?? received.toISOString(),
    to: within(header.to, MOST_HEADER_BYTES),
    cc: within(header.cc, MOST_HEADER_BYTES),
    reply_to: within(header.replyTo, MOST_HEADER_BYTES),
    message_id: header.messageId ?? null,
    in_reply_to: header.inReplyTo ?? null,
    references: within(header.references.toReversed(), MOST_HEADER_BYTES).toReversed(),
    auto_submitted: header.autoSubmitted ?? null,
    automatic: header.automatic ?? null,
  };
}

/** Whether there was more in a list of the header than there is room for. */
function hasLess(shown: ReturnType<typeof headerFields>, header: MailHeader): boolean {
  return (
    header.truncated ||
    shown.to.length < header.to.length ||
    shown.cc.length < header.cc.length ||
    shown.reply_to.length < header.replyTo.length ||
    shown.references.length < header.references.length
  );
}

/** The first of them, for as long as they have no more than so many bytes together. */
function within<T>(list: readonly T[], bytes: number): T[] {
  let room = bytes;
  const end = list.findIndex((each) => (room -= sizeOf(each) + 1) < 0);
  return end < 0 ? [...list] : list.slice(0, end);
}

/** Whether the content of an attachment of that size is wanted. */
export function isWanted(size: number, { attachments, maxAttachmentBytes }: MailTrigger): boolean {
  return attachments === 'Content' && size <= (maxAttachmentBytes ?? MAX_ATTACHMENT_BYTES);
}

function described({ filename, contentType, size }: MailAttachment): Attachment {
  return { filename, content_type: contentType.slice(0, 255), size };
}

/** Gives the attachments their contents, as long as there is room. What they take of it. */
function addContents(
  mail: MailContent,
  attachments: Attachment[],
  trigger: MailTrigger,
  room: number,
): number {
  let left = room;
  for (const [index, attachment] of attachments.entries()) {
    const content = mail.attachments[index]?.content;
    if (!content || !isWanted(content.length, trigger)) continue;
    const needs = Math.ceil(content.length / 3) * 4 + '"content":"",'.length;
    if (needs > left) continue;
    attachment.content = Buffer.from(content).toString('base64');
    left -= needs;
  }
  return room - left;
}

function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** The text, or its beginning and a mark, with at most so many bytes as JSON. */
function cut(text: string, room: number): string {
  const whole = text.toWellFormed();
  if (whole.length * 6 <= room || sizeOf(whole) <= room) return whole;
  let [least, most] = [0, whole.length];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (sizeOf(beginning(whole, middle)) <= room) least = middle;
    else most = middle - 1;
  }
  return least === 0 ? '' : beginning(whole, least);
}

/** No character is cut in two: what is left of one is left out. */
function beginning(text: string, length: number): string {
  return `${text.slice(0, length).replace(/[\ud800-\udbff]$/, '')}${CUT}`;
}
