/**
 * Messages by Telegram (https://core.telegram.org/bots/api#sendmessage). Formats are given apart from the text, as entities, so that nothing in
 * it can be taken for a mark. The token is a part of the URL, which no message holds.
 */
import * as z from 'zod';
import { StepError } from '../../../api/reasons.ts';
import type { StepContext } from '../../node.ts';
import { callApi, refusalOf, unreadable, type ApiAnswer, type ApiCall } from '../api.ts';
import type { Bot, Messenger, Outgoing } from './messenger.ts';
import type { Span } from './richText.ts';

const TELEGRAM_URL = 'https://api.telegram.org';
/** "1-4096 characters after entities parsing". */
const LONGEST = 4_096;
const ANSWER_LIMIT = 262_144;

const okSchema = z.object({
  ok: z.literal(true),
  result: z.object({ message_id: z.number(), chat: z.object({ id: z.union([z.number(), z.string()]) }) }),
});

const errorSchema = z.object({
  description: z.string().optional(),
  parameters: z
    .object({ retry_after: z.number().min(0).optional(), migrate_to_chat_id: z.number().optional() })
    .optional(),
});

export const telegram: Messenger = {
  room: { most: LONGEST, lengthOf: ({ text }) => text.length },
  send: async (message, bot, context) => {
    const call: ApiCall = { method: 'POST', url: urlOf(bot), body: bodyOf(message), limit: ANSWER_LIMIT };
    const answer = await callApi(call, context);
    if (answer.status !== 200) throw refusal(answer, call, bot, context);
    const parsed = okSchema.safeParse(answer.json);
    if (!parsed.success) throw unreadable(answer, context, call);
    const { chat, message_id: messageId } = parsed.data.result;
    return { chatId: chat.id, messageId };
  },
};

function urlOf({ token, apiURL = TELEGRAM_URL }: Bot): URL {
  const base = apiURL.replace(/\/+$/, '');
  if (!URL.canParse(base)) throw new StepError('InvalidParameters', 'apiURL of the credential is no URL');
  // The colon of a token stands as it is, as everybody writes it.
  const path = encodeURIComponent(token.reveal()).replace('%3A', ':');
  return new URL(`${base}/bot${path}/sendMessage`);
}

function bodyOf({ chatId, part, replyTo, hasPreview }: Outgoing): object {
  const { text, spans } = part;
  const id = numberIn(chatId);
  const reply = replyTo === undefined ? undefined : numberIn(replyTo);
  if (replyTo !== undefined && reply === undefined)
    throw new StepError('InvalidParameters', 'replyTo: is no number of a message, as Telegram has them');
  return {
    chat_id: id ?? chatId,
    text,
    ...(spans.length > 0 && { entities: spans.map(entityOf) }),
    // A message that is gone meanwhile is answered without it.
    ...(reply !== undefined && {
      reply_parameters: { message_id: reply, allow_sending_without_reply: true },
    }),
    link_preview_options: { is_disabled: !hasPreview },
  };
}

/** The number that a text is in decimal digits; undefined where it is none, such as `0x10`. */
function numberIn(text: string): number | undefined {
  const number = /^-?\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(number) ? number : undefined;
}

/** https://core.telegram.org/bots/api#messageentity */
function entityOf({ format, start, end, url, language }: Span): object {
  return {
    type: format === 'link' ? 'text_link' : format,
    offset: start,
    length: end - start,
    ...(url !== undefined && { url }),
    ...(language !== undefined && { language }),
  };
}

function refusal(answer: ApiAnswer, call: ApiCall, { secrets }: Bot, context: StepContext): StepError {
  const parsed = errorSchema.safeParse(answer.json);
  const { description: said, parameters = {} } = parsed.success ? parsed.data : {};
  const { retry_after: wait, migrate_to_chat_id: movedTo } = parameters;
  if (movedTo !== undefined)
    return new StepError('Refused', `the group has become a supergroup: its chat is now ${movedTo}`);
  // What has not the form of a token is no path of the API.
  const status = answer.status === 404 ? 401 : answer.status;
  const refusal = { said, secrets, ...(wait !== undefined && { retryAfterMs: wait * 1_000 }) };
  return refusalOf({ ...answer, status }, refusal, context, call);
}
