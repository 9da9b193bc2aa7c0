/**
 * Skill `send_message`: sends a text by a bot, in several messages if it is long. Telegram and Slack have no
 * idempotency key, so what may have been sent is reported as in doubt, also if it is a part of the text.
 */
import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod';
import { StepError } from '../../api/reasons.ts';
import {
  abortion,
  asStep,
  inDoubt,
  partOf,
  type CredentialAccess,
  type StepContext,
  type StepResult,
} from '../contract/node.ts';
import { echoesOf } from '../contract/secret.ts';
import { parseMarkdown } from '../messages/markdown.ts';
import type { Bot, Messenger, Outgoing, Sent, RichText, Room } from '../contract/messenger.ts';
import { partsOf } from '../messages/richText.ts';
import { credentialsFor, findProvider } from '../providers/register.ts';
import { destination, hiddenFromModels, textParameter, type SkillDefinition } from '../contract/skill.ts';

const LONGEST_TEXT = 524_288;
/** Telegram admits some 20 messages a minute in a group. */
const MOST_MESSAGES = 20;
/** How long a service may have us wait in the midst of a text, altogether. */
const LONGEST_WAIT_MS = 30_000;
/** Of one chat: a number, or a name with what services put before it. */
const CHAT = /^[@#]?[\p{L}\p{M}\p{N}_.-]{1,127}$/u;
const MESSAGE = /^\d{1,16}(?:\.\d{1,16})?$/;

const parameters = z.strictObject({
  chatId: textParameter(
    128,
    'Where to send it: chat_id of a bot trigger; else a number or @name of a channel (Telegram), or the id of a channel (Slack).',
  ).refine((id) => CHAT.test(id), 'must be the id of one chat'),
  text: textParameter(LONGEST_TEXT, 'The text. What is too long for one message is sent in several.').refine(
    (text) => text.trim() !== '',
    'must not be empty',
  ),
  format: z
    .enum(['Text', 'Markdown'], 'must be Text or Markdown')
    .optional()
    .describe(
      'Text: shown as it is. Markdown: bold, italic, struck out, code, links, headings and lists are shown as such. Default Text.',
    ),
  replyTo: textParameter(
    128,
    'The message to answer: its number (Telegram), or the ts of the thread (Slack).',
  )
    .refine((id) => MESSAGE.test(id), 'must be the id of a message')
    .optional(),
  linkPreview: z
    .boolean('must be true or false')
    .optional()
    .describe(
      'Whether the service may show what links lead to, which it requests for that: not for texts that strangers have a say in. Default false.',
    ),
});

type Parameters = z.infer<typeof parameters>;

export const sendMessage: SkillDefinition<Parameters> = {
  name: 'send_message',
  description: 'Sends a message by a bot: Telegram or Slack.',
  parameters,
  // A service requests the links that it previews, and Markdown shows another text than the target.
  rules: { chatId: destination, format: hiddenFromModels, linkPreview: hiddenFromModels },
  credentials: credentialsFor('messenger'),
  effect: 'AtMostOnce',
  execute: send,
};

async function send(parameters: Parameters, context: StepContext, name = ''): Promise<StepResult> {
  const { text, format = 'Text', chatId, replyTo, linkPreview: hasPreview = false } = parameters;
  const credential = await context.credential(name);
  const { platform = 'telegram', tokenRef, apiURL } = partOf(credential, 'bot');
  const token = credential.secret(tokenRef);
  const messenger = await messengerOf(credential);
  const isFormatted = format === 'Markdown';
  const rich = isFormatted ? parseMarkdown(text) : { text, spans: [] };
  const parts = sendable(rich, messenger.room);
  const messages = parts.map((part, index) => ({
    chatId,
    part,
    isFormatted,
    // In a thread all of them belong there; elsewhere the first one is the answer.
    replyTo: index === 0 || platform === 'slack' ? replyTo : undefined,
    hasPreview,
  }));
  const sent = await sendAll(messages, {
    messenger,
    bot: { token, secrets: echoesOf(token), apiURL },
    context,
  });
  const count = sent.length === 1 ? 'a message' : `${sent.length} messages`;
  return {
    output: {
      text_content: `Sent ${count} to ${chatId}.`,
      data_content: {
        chat_id: sent[0]?.chatId ?? chatId,
        message_ids: sent.map(({ messageId }) => messageId),
      },
    },
  };
}

async function messengerOf({ name, spec }: CredentialAccess): Promise<Messenger> {
  const provider = findProvider(spec, 'messenger');
  if (provider) return provider.messenger();
  throw new StepError('InvalidParameters', `credential ${name} sends no messages`);
}

function sendable(rich: RichText, room: Room): RichText[] {
  const parts: RichText[] = [];
  for (const part of partsOf(rich, room)) {
    if (parts.length === MOST_MESSAGES)
      throw new StepError(
        'InvalidParameters',
        `text: would take more than ${MOST_MESSAGES} messages: shorten it`,
      );
    parts.push(part);
  }
  if (parts.length > 0) return parts;
  throw new StepError('InvalidParameters', 'text: there is nothing in it to be shown');
}

type Sending = { messenger: Messenger; bot: Bot; context: StepContext };

async function sendAll(messages: readonly Outgoing[], sending: Sending): Promise<Sent[]> {
  const sent: Sent[] = [];
  const patience = { leftMs: LONGEST_WAIT_MS };
  for (const message of messages) {
    try {
      sent.push(
        await (sent.length === 0 ? sendOne(message, sending) : sendWithRetries(message, sending, patience)),
      );
    } catch (error) {
      throw sent.length === 0
        ? error
        : partly(error, `${sent.length} of ${messages.length} messages were sent`, sending);
    }
  }
  return sent;
}

/** The error of a text of which a part was sent. */
function partly(error: unknown, what: string, { context }: Sending): unknown {
  if (!(error instanceof StepError)) return error;
  if (error.reason !== 'EffectUnknown') return inDoubt(context.effect, error, what);
  return new StepError('EffectUnknown', `${error.message}; ${what} before`, { cause: error });
}

function sendOne(message: Outgoing, { messenger, bot, context }: Sending): Promise<Sent> {
  return asStep(context, () => messenger.send(message, bot, context));
}

/** In the midst of a text the step waits itself: once it fails nothing of the text can be sent again. */
async function sendWithRetries(
  message: Outgoing,
  sending: Sending,
  patience: { leftMs: number },
): Promise<Sent> {
  for (;;) {
    try {
      return await sendOne(message, sending);
    } catch (error) {
      const waitMs =
        error instanceof StepError && error.reason === 'RateLimited' ? error.retryAfterMs : undefined;
      if (waitMs === undefined || waitMs > patience.leftMs) throw error;
      // A service that asks for no time at all is asked a bounded number of times.
      patience.leftMs -= Math.max(waitMs, 1_000);
      await pause(waitMs, sending.context.signal);
    }
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, { signal });
  } catch {
    throw abortion(signal);
  }
}
