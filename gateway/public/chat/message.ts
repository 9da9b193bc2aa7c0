/** Reads the message of a chat from a request. Pure. */
import { isSessionToken, newSessionToken, sessionName } from '../../../api/chat.ts';
import { parseJson, type JsonLimits } from '../../../api/json.ts';
import { isRecord } from '../../../api/record.ts';
import type { ProblemCode } from '../../contract/problems.ts';
import { singleHeader, type Caller } from '../../verify/verifier.ts';

/** The header with the token of the session, in lower case. */
export const SESSION_HEADER = 'windlass-chat-session';
export const MAX_MESSAGE = 16_384;
const MESSAGE_ID = /^[A-Za-z0-9_-]{1,64}$/;

export type Message = { text: string; id: string };
export type Session = { token: string; name: string };

/** The message in a body, or the problem. */
export function readMessage(body: Uint8Array, limits: JsonLimits): Message | ProblemCode {
  const json = parseJson(body, limits);
  if (!json.ok) return json.code;
  const { message, id } = isRecord(json.value) ? json.value : {};
  const isMessage = typeof message === 'string' && message.length <= MAX_MESSAGE && message.trim() !== '';
  if (!isMessage || typeof id !== 'string' || !MESSAGE_ID.test(id)) return 'bad-message';
  return { text: message, id };
}

/** The session that the request names, a new one if it names none, or the problem. */
export function readSession(caller: Caller, workflowUid: string): Session | ProblemCode {
  const header = singleHeader(caller, SESSION_HEADER);
  if ('fault' in header && header.fault !== 'missing') return 'bad-session';
  const token = 'value' in header ? header.value : newSessionToken();
  if (!isSessionToken(token)) return 'bad-session';
  return { token, name: sessionName(workflowUid, token) };
}

/** Whether the caller wants one JSON value instead of a stream of events. */
export function prefersJson(accept: string | undefined = ''): boolean {
  const types = accept.toLowerCase();
  return types.includes('application/json') && !types.includes('text/event-stream');
}

/** The output of the trigger, as JSON text. */
export function messageInput({ text, id }: Message, session: string): string {
  return JSON.stringify({ text_content: text, data_content: { session, message: text, id } });
}
