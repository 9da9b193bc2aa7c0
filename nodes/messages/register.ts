/** Every messaging service that a bot can be at: a file and a line each. */
import type { Platform } from '../../api/credential.ts';
import type { Received } from './received.ts';
import { readSlack } from '../providers/slack/events.ts';
import { readTelegram } from '../providers/telegram/updates.ts';

type Service = {
  /** Reads the body of a request, which has been verified. `username` is that of the bot, where it is known. */
  read: (body: unknown, username?: string) => Received;
};

export const SERVICES: Readonly<Record<Platform, Service>> = {
  telegram: { read: readTelegram },
  slack: { read: readSlack },
};
