/**
 * What the URL and the sessions of a chat are made of, for the operator that publishes a URL and the gateway
 * that serves it. No input or output.
 */
import { createHash, randomBytes } from 'node:crypto';

export const CHAT_PREFIX = '/chat/';

/**
 * The last segment of a chat's URL: 32 hexadecimal digits. Derived from the random uid of the workflow, so
 * that it stays until the workflow is deleted, and only readers of the workflow know it.
 */
export function chatId(workflowUid: string): string {
  return createHash('sha256').update(`windlass chat\n${workflowUid}`).digest('hex').slice(0, 32);
}

/** The path of a chat's page below the public URL of the installation. */
export function chatPath(workflowUid: string): string {
  return `${CHAT_PREFIX}${chatId(workflowUid)}`;
}

/** The token of a session: 256 bits in base64url. */
const SESSION_TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** Whether the text has the form of the token of a session. Each token of that form is a session. */
export function isSessionToken(text: string): boolean {
  return SESSION_TOKEN.test(text);
}

/** A token for a new session. */
export function newSessionToken(): string {
  return randomBytes(32).toString('base64url');
}

/**
 * The name of a session, which runs and records show: 43 characters of A-Z, a-z, 0-9, _ and -. It does not
 * reveal the token, and another chat has another name for the same token.
 */
export function sessionName(workflowUid: string, token: string): string {
  return createHash('sha256').update(`windlass chat session\n${workflowUid}\n${token}`).digest('base64url');
}
