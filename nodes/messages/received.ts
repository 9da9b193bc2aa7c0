/** Messages that messengers deliver to bots: how they become events, and the filters of bot triggers. */
import type { ChatType } from '../../api/trigger.ts';
import type { NodeOutput } from '../../api/value.ts';

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

/** Which messages start runs. */
export type Wanted = {
  chatTypes?: readonly ChatType[] | undefined;
  commands?: readonly string[] | undefined;
};

/** Whether a trigger that declares this wants the message. An empty list is as none. */
export function isWanted(
  { chatType, command }: ReceivedMessage,
  { chatTypes = [], commands = [] }: Wanted,
): boolean {
  if (chatTypes.length > 0 && (chatType === undefined || !chatTypes.includes(chatType))) return false;
  return commands.length === 0 || (command !== undefined && commands.some((each) => plain(each) === command));
}

/** A command without the slash, in lower case. */
export function plain(command: string): string {
  return command.replace(/^\//, '').toLowerCase();
}

/** The first word of a text. */
export function firstWord(text: string): string | undefined {
  return /^\S+/.exec(text)?.[0];
}

/** Own members alone: what a stranger sends is data, and names like `constructor` mean nothing. */
export function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

/** A member that is a text; else undefined. */
export function textOf(value: unknown, name: string): string | undefined {
  const found = member(value, name);
  return typeof found === 'string' ? found : undefined;
}
