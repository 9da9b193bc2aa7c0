/**
 * What those who take a bot's updates and those who register where they are sent must agree on: the URL, the secret that proves
 * who sends, and which updates are wanted. Works on text alone: no input or output.
 */
import { createHmac } from 'node:crypto';
import { GROUP, workflowId } from './group.ts';

export const BOT_PREFIX = '/bot/';

/** The finalizer of a Credential whose bot may be registered at the messaging service. */
export const BOT_FINALIZER = `${GROUP}/bot-webhook`;

/** The updates that a Telegram bot asks for (`allowed_updates` of setWebhook). Others are answered and start nothing. */
export const TELEGRAM_UPDATES = ['message', 'channel_post'] as const;

/** The path of a bot's URL, after the public URL of the installation: one for each credential. */
export function botPath(namespace: string, credential: string): string {
  return `${BOT_PREFIX}${workflowId(namespace, credential)}`;
}

/**
 * What Telegram proves with that it sends (`secret_token` of setWebhook, the header X-Telegram-Bot-Api-Secret-Token): made of the
 * bot's token, as the Secret holds it, and of the credential's uid, so that whoever may read the token can make it and nobody has
 * to hand it on. 43 characters out of A-Z, a-z, 0-9, _ and -.
 */
export function botSecret(token: string, credentialUid: string): string {
  return createHmac('sha256', token).update(`windlass bot webhook\n${credentialUid}`).digest('base64url');
}

/** The bot's id, which a Telegram token begins with and which is no secret; undefined for what is no such token. */
export function telegramId(token: string): string | undefined {
  return /^([0-9]{1,20}):/.exec(token)?.[1];
}
