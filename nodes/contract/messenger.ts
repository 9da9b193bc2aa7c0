/** The contract of a messenger: sends messages of a bot, and reads those that it receives. */
import type { ChatType } from '../../api/trigger.ts';
import type { NodeOutput } from '../../api/value.ts';
import type { Wire } from './node.ts';
import type { Mask, Secret } from './secret.ts';

export type Format = 'bold' | 'italic' | 'strikethrough' | 'code' | 'pre' | 'link';

/**
 * Positions count UTF-16 units, as JavaScript and Telegram do. Of two spans that touch, one lies within the
 * other.
 */
export type Span = { format: Format; start: number; end: number; url?: string; language?: string };

export type RichText = { text: string; spans: readonly Span[] };

/** How long a message may be, and how long a part is as it is sent: at least as long as its text. */
export type Room = { most: number; lengthOf: (part: RichText) => number };

/** The bot that sends, by its credential. */
export type Bot = {
  token: Secret;
  secrets: readonly Mask[];
  /** Where the service is, if not at its own address. */
  apiURL: string | undefined;
};

export type Outgoing = {
  chatId: string;
  part: RichText;
  /** Whether the formats of the text count; without, it is shown as it is written. */
  isFormatted: boolean;
  /** The message that it answers. */
  replyTo: string | undefined;
  hasPreview: boolean;
};

/** A message that was sent, as the service names chat and message. */
export type Sent = { chatId: number | string; messageId: number | string };

export type Messenger = {
  /** What one message has room for. */
  room: Room;
  /** Sends one message, once. Throws a Failure or a StepError. */
  send(message: Outgoing, bot: Bot, wire: Wire): Promise<Sent>;
};

/** What a service has sent. */
export type Received =
  /** A message that somebody wrote. */
  | ReceivedMessage
  /** The service asks whether anybody is there, and wants this text as the answer. */
  | { kind: 'challenge'; text: string }
  /** Anything else: it starts nothing. */
  | { kind: 'other' };

/** Reads the body of a verified request. `username`: that of the bot, where it is known. Pure. */
export type ReadMessage = (body: unknown, username?: string) => Received;

export type ReceivedMessage = {
  kind: 'message';
  /** Names the event: the same in each delivery of it. */
  id: string;
  chatType: ChatType | undefined;
  /** The command that it begins with, in lower case and without a slash. */
  command: string | undefined;
  output: BotOutput;
};

/** What the trigger gives to the nodes behind it. */
type BotOutput = NodeOutput & {
  data_content: {
    chat_id: number | string;
    from: { first_name: string; username: string };
    message_type: string;
  };
};
