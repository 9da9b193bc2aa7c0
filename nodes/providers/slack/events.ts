/**
 * Parses requests of the Slack Events API (https://docs.slack.dev/apis/events-api). Pure. Anything but a
 * message of a person is `other`, so that bots never answer each other or themselves.
 */
import type { ChatType } from '../../../api/trigger.ts';
import { firstWord, member, plain, textOf } from '../../messages/received.ts';
import type { Received, ReceivedMessage } from '../../contract/messenger.ts';

/**
 * The kinds of messages (https://docs.slack.dev/reference/events/message#subtypes) that a person has just
 * written.
 */
const WRITTEN: ReadonlySet<string | undefined> = new Set([
  undefined,
  'file_share',
  'me_message',
  'thread_broadcast',
]);

/** Slack's own bot, which has no id of one. */
const SLACKBOT = 'USLACKBOT';

/** `channel_type` in Telegram's words. */
const CHAT_TYPES: Readonly<Record<string, ChatType>> = {
  im: 'private',
  mpim: 'group',
  group: 'group',
  channel: 'channel',
};

/** Reads the body of a request. */
export function readSlack(body: unknown): Received {
  const type = textOf(body, 'type');
  const challenge = textOf(body, 'challenge');
  if (type === 'url_verification' && challenge !== undefined) return { kind: 'challenge', text: challenge };
  const id = textOf(body, 'event_id');
  if (type !== 'event_callback' || id === undefined || id === '') return { kind: 'other' };
  return messageOf(id, member(body, 'event'), ownUsers(body));
}

function messageOf(eventId: string, event: unknown, own: readonly string[]): Received {
  const kind = textOf(event, 'type');
  const channel = textOf(event, 'channel');
  const user = textOf(event, 'user');
  if ((kind !== 'message' && kind !== 'app_mention') || channel === undefined) return { kind: 'other' };
  if (user === undefined || !isWritten(event, user, own)) return { kind: 'other' };
  const written = textOf(event, 'text') ?? '';
  const text = plainText(written);
  const isMention = kind === 'app_mention' || own.some((each) => written.includes(`<@${each}>`));
  return {
    kind: 'message',
    id: idOf(event, channel) ?? eventId,
    chatType: chatTypeOf(event, channel),
    command: commandOf(text),
    output: {
      text_content: text,
      data_content: {
        chat_id: channel,
        from: senderOf(event, user),
        message_type: isMention ? 'app_mention' : typeOf(event),
      },
    },
  };
}

/**
 * Channel and time name a message (https://docs.slack.dev/messaging/retrieving-messages): of one that calls
 * the bot two events may tell.
 */
function idOf(event: unknown, channel: string): string | undefined {
  const ts = textOf(event, 'ts');
  return ts === undefined || ts === '' ? undefined : `${channel}/${ts}`;
}

/** The ids of the users that the bot is (https://docs.slack.dev/apis/events-api/#authorizations). */
function ownUsers(body: unknown): string[] {
  const authorizations = member(body, 'authorizations');
  if (!Array.isArray(authorizations)) return [];
  return authorizations
    .filter((each: unknown) => member(each, 'is_bot') === true)
    .flatMap((each: unknown) => textOf(each, 'user_id') ?? []);
}

/** Whether a person has just written it. */
function isWritten(event: unknown, user: string, own: readonly string[]): boolean {
  const isOfBot = textOf(event, 'bot_id') !== undefined || user === SLACKBOT || own.includes(user);
  return !isOfBot && WRITTEN.has(textOf(event, 'subtype'));
}

type Sender = ReceivedMessage['output']['data_content']['from'];

/** Slack names the user by an id, and now and then tells the name with it. */
function senderOf(event: unknown, user: string): Sender {
  const profile = member(event, 'user_profile');
  const first_name = textOf(profile, 'first_name') ?? textOf(profile, 'display_name') ?? '';
  return { first_name, username: textOf(profile, 'name') ?? user };
}

function typeOf(event: unknown): string {
  const files = member(event, 'files');
  return Array.isArray(files) && files.length > 0 ? 'file' : 'text';
}

/** Mentions do not say the type; what a channel's id begins with tells direct messages from all else. */
function chatTypeOf(event: unknown, channel: string): ChatType | undefined {
  const type = textOf(event, 'channel_type');
  if (type !== undefined) return Object.hasOwn(CHAT_TYPES, type) ? CHAT_TYPES[type] : undefined;
  if (channel.startsWith('D')) return 'private';
  return channel.startsWith('G') ? 'group' : 'channel';
}

/**
 * The three characters that Slack escapes
 * (https://docs.slack.dev/messaging/formatting-message-text#escaping), last the one that the others are made
 * with.
 */
function plainText(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

/** The first word that is no mention: who talks to a bot in a channel begins with its name. */
function commandOf(text: string): string | undefined {
  const word = firstWord(text.replace(/^(\s*<@[A-Z0-9]+(\|[^>]*)?>)+[\s:,]*/, '').trimStart());
  return word === undefined ? undefined : plain(word);
}
