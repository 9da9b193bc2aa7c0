/** Messages that messengers deliver to bots: how they become events, and the filters of bot triggers. */
import type { ChatType } from '../../api/trigger.ts';
import type { ReceivedMessage } from '../contract/messenger.ts';

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
