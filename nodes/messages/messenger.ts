/** The contract of a messenger: sends messages of a bot. */
import type { Wire } from '../http/request.ts';
import type { Mask, Secret } from '../secret.ts';
import type { RichText, Room } from './richText.ts';

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
