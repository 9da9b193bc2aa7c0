/**
 * What registering a bot and receiving its updates have in common: the URL, the secret that authenticates the
 * messaging service, and the kinds of updates. No input or output.
 */
import { createHmac } from 'node:crypto';
import { GROUP, workflowId } from './group.ts';

export const BOT_PREFIX = '/bot/';

/** The finalizer of a Credential whose bot may be registered with the messaging service. */
export const BOT_FINALIZER = `${GROUP}/bot-webhook`;

/**
 * The updates that a Telegram bot requests (`allowed_updates` of setWebhook). Others are acknowledged and
 * start no run.
 */
export const TELEGRAM_UPDATES = ['message', 'channel_post'] as const;

/** The path of a bot's URL below the public URL of the installation. Each credential has its own. */
export function botPath(namespace: string, credential: string): string {
  return `${BOT_PREFIX}${workflowId(namespace, credential)}`;
}

/**
 * The secret that authenticates Telegram (`secret_token` of setWebhook, the header
 * X-Telegram-Bot-Api-Secret-Token). It is derived from the bot's token, as the Secret holds it, and the
 * credential's uid, so that both sides compute it and no one has to transmit it. 43 characters of A-Z, a-z,
 * 0-9, _ and -.
 */
export function botSecret(token: string, credentialUid: string): string {
  return createHmac('sha256', token).update(`windlass bot webhook\n${credentialUid}`).digest('base64url');
}

/**
 * The bot's ID, the public first part of a Telegram token; undefined for a text that is not a Telegram token.
 */
export function telegramId(token: string): string | undefined {
  return /^([0-9]{1,20}):/.exec(token)?.[1];
}
