/**
 * Sends messages by Slack (https://docs.slack.dev/reference/methods/chat.postMessage). Guarantees that no
 * text notifies a channel or a person: what Slack would read as a mention is escaped
 * (https://docs.slack.dev/messaging/formatting-message-text).
 */
import * as z from 'zod';
import { unreadable } from '../../http/body.ts';
import { meaningOf, statusFailure } from '../../http/client.ts';
import type { Failure } from '../../contract/failure.ts';
import { apiURL as urlOf, bearerOf, callJson, type JsonAnswer, type JsonCall } from '../../http/json.ts';
import { problemOf, SLACK_URL } from './api.ts';
import type { Bot, Messenger, Outgoing, Format, RichText, Span } from '../../contract/messenger.ts';

/** Longer texts are truncated. */
const LONGEST = 40_000;
const ANSWER_LIMIT = 1_048_576;

const okSchema = z.object({ ok: z.literal(true), channel: z.string(), ts: z.string() });
const errorSchema = z.object({ ok: z.literal(false), error: z.string() });

export const slackMessenger: Messenger = {
  room: { most: LONGEST, lengthOf: (part) => mrkdwnOf(part).length },
  send: async (message, bot, context) => {
    const answer = await callJson(callOf(message, bot), context);
    const parsed = okSchema.safeParse(answer.json);
    if (answer.status === 200 && parsed.success)
      return { chatId: parsed.data.channel, messageId: parsed.data.ts };
    throw refusal(answer, bot);
  },
};

function callOf(
  { chatId, part, isFormatted, replyTo, hasPreview }: Outgoing,
  { token, apiURL = SLACK_URL }: Bot,
): JsonCall {
  const json = {
    channel: chatId,
    text: mrkdwnOf(part),
    mrkdwn: isFormatted,
    unfurl_links: hasPreview,
    unfurl_media: hasPreview,
    ...(replyTo !== undefined && { thread_ts: replyTo }),
  };
  const headers = { authorization: bearerOf(token, 'token') };
  return { method: 'POST', url: urlOf(apiURL, 'chat.postMessage'), headers, json, limit: ANSWER_LIMIT };
}

function refusal(answer: JsonAnswer, { secrets }: Bot): Failure {
  const parsed = errorSchema.safeParse(answer.json);
  const text = parsed.success ? parsed.data.error : undefined;
  if (answer.status === 200 && text === undefined) return unreadable(answer);
  const [kind, problem] = meaningOf({ ...answer, status: statusOf(answer.status, text) });
  return statusFailure(answer, kind, problem, { text, secrets });
}

/** The status that stands for an error. */
function statusOf(status: number, error = ''): number {
  if (status !== 200) return status;
  return STATUSES[problemOf(error)];
}

const STATUSES = { limit: 429, outage: 500, expired: 401, scope: 401, token: 401, request: 400 } as const;

const MARKS: Record<Exclude<Format, 'link'>, readonly [before: string, after: string]> = {
  bold: ['*', '*'],
  italic: ['_', '_'],
  strikethrough: ['~', '~'],
  code: ['`', '`'],
  pre: ['```\n', '\n```'],
};

/** The text as Slack reads it. */
function mrkdwnOf({ text, spans }: RichText): string {
  const edges = spans.flatMap((span, order) => [
    { at: span.start, order, text: marksOf(span)[0] },
    { at: span.end, order: -1 - order, text: marksOf(span)[1] },
  ]);
  // At one place inner spans end before outer ones, then outer ones begin before inner ones.
  edges.sort((a, b) => a.at - b.at || a.order - b.order);
  let result = '';
  let from = 0;
  for (const edge of edges) {
    result += escaped(text.slice(from, edge.at)) + edge.text;
    from = edge.at;
  }
  return result + escaped(text.slice(from));
}

function marksOf({ format, url = '' }: Span): readonly [before: string, after: string] {
  return format === 'link' ? [`<${escaped(url).replaceAll('|', '%7C')}|`, '>'] : MARKS[format];
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
