/**
 * Sends messages by Telegram (https://core.telegram.org/bots/api#sendmessage). Formats are sent as entities,
 * separate from the text, so that nothing in the text is interpreted.
 */
import * as z from 'zod';
import { StepError } from '../../../api/reasons.ts';
import { unreadable } from '../../http/body.ts';
import { meaningOf, statusFailure } from '../../http/client.ts';
import { Failure } from '../../contract/failure.ts';
import { callJson, type JsonAnswer } from '../../http/json.ts';
import { methodURL } from './api.ts';
import type { Bot, Messenger, Outgoing, Span } from '../../contract/messenger.ts';

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

export const telegramMessenger: Messenger = {
  room: { most: LONGEST, lengthOf: ({ text }) => text.length },
  send: async (message, bot, context) => {
    const url = methodURL(bot.token, 'sendMessage', bot.apiURL);
    const answer = await callJson(
      { method: 'POST', url, json: bodyOf(message), limit: ANSWER_LIMIT },
      context,
    );
    if (answer.status !== 200) throw refusal(answer, bot);
    const parsed = okSchema.safeParse(answer.json);
    if (!parsed.success) throw unreadable(answer);
    const { chat, message_id: messageId } = parsed.data.result;
    return { chatId: chat.id, messageId };
  },
};

function bodyOf({ chatId, part, replyTo, hasPreview }: Outgoing): object {
  const { text, spans } = part;
  const id = numberIn(chatId);
  const reply = replyTo === undefined ? undefined : numberIn(replyTo);
  if (replyTo !== undefined && reply === undefined)
    throw new StepError('InvalidParameters', 'replyTo: is not the number of a Telegram message');
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

function refusal(answer: JsonAnswer, { secrets }: Bot): Failure {
  const parsed = errorSchema.safeParse(answer.json);
  const { description: text, parameters = {} } = parsed.success ? parsed.data : {};
  const { retry_after: wait, migrate_to_chat_id: movedTo } = parameters;
  if (movedTo !== undefined)
    return new Failure('Refused', `the group has become a supergroup: its chat is now ${movedTo}`);
  // Telegram answers 404 if the token is malformed.
  const status = answer.status === 404 ? 401 : answer.status;
  const [kind, problem] = meaningOf({ ...answer, status });
  const retryAfterMs = wait === undefined ? undefined : wait * 1_000;
  return statusFailure(answer, kind, problem, { text, secrets, retryAfterMs });
}
