/**
 * Parses updates of Telegram (https://core.telegram.org/bots/api#update). Pure. Anything but a message is
 * `other`.
 */
import { TELEGRAM_UPDATES } from '../../../api/bot.ts';
import type { ChatType } from '../../../api/trigger.ts';
import { firstWord, member, plain, textOf } from '../../messages/received.ts';
import type { Received, ReceivedMessage } from '../../contract/messenger.ts';

/**
 * The members of https://core.telegram.org/bots/api#message that say of which type it is, those first that
 * come with others.
 */
const TYPES = [
  'text',
  'animation',
  'audio',
  'document',
  'paid_media',
  'photo',
  'sticker',
  'story',
  'video',
  'video_note',
  'voice',
  'checklist',
  'contact',
  'dice',
  'game',
  'poll',
  'venue',
  'location',
];

/**
 * https://core.telegram.org/bots/api#chat. Not from the schema, so that the register of providers loads none.
 */
const CHAT_TYPES: readonly ChatType[] = ['private', 'group', 'supergroup', 'channel'];

/** `username` is the bot's own, where it is known: a command that names another bot is none. */
export function readTelegram(update: unknown, username?: string): Received {
  const id = member(update, 'update_id');
  const message = TELEGRAM_UPDATES.map((kind) => member(update, kind)).find((each) => each !== undefined);
  const chat = member(message, 'chat');
  const chatId = member(chat, 'id');
  if (!isInteger(id) || !isInteger(chatId) || !isWritten(message)) return { kind: 'other' };
  const text = textOf(message, 'text') ?? textOf(message, 'caption') ?? '';
  const type = textOf(chat, 'type');
  return {
    kind: 'message',
    id: String(id),
    chatType: CHAT_TYPES.find((each) => each === type),
    command: commandOf(text, username),
    output: {
      text_content: text,
      data_content: { chat_id: chatId, from: senderOf(message, chat), message_type: typeOf(message) },
    },
  };
}

/**
 * Whether somebody wrote it, that is no other bot
 * (https://core.telegram.org/bots/features#bot-to-bot-communication), nor Telegram, which copies what a
 * channel posts into its group. Who writes in the name of a chat is shown as a bot, too.
 */
function isWritten(message: unknown): boolean {
  if (member(message, 'is_automatic_forward') === true) return false;
  return member(message, 'sender_chat') !== undefined || member(member(message, 'from'), 'is_bot') !== true;
}

function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

type Sender = ReceivedMessage['output']['data_content']['from'];

/**
 * In channels nobody but the channel speaks, and in groups some speak in a chat's name. What is not known is
 * empty, so that references to it work.
 */
function senderOf(message: unknown, chat: unknown): Sender {
  const from = member(message, 'sender_chat') ?? member(message, 'from') ?? chat;
  const first_name = textOf(from, 'first_name') ?? textOf(from, 'title') ?? '';
  return { first_name, username: textOf(from, 'username') ?? '' };
}

function typeOf(message: unknown): string {
  return TYPES.find((type) => member(message, type) !== undefined) ?? 'other';
}

/** `/command` or `/command@name_of_the_bot` (https://core.telegram.org/bots/features#commands). */
function commandOf(text: string, username: string | undefined): string | undefined {
  const word = firstWord(text);
  if (word === undefined || !word.startsWith('/')) return undefined;
  const [command = '', bot] = word.split('@');
  const isOurs =
    bot === undefined ||
    username === undefined ||
    bot.toLowerCase() === username.replace(/^@/, '').toLowerCase();
  return isOurs ? plain(command) : undefined;
}
