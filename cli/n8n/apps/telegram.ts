/** Telegram. */
import { convertCall } from '../steps/call.ts';
import { memberOf, textOf } from '../model/json.ts';
import type { Draft } from '../steps/items.ts';
import type { NodeContext } from '../steps/context.ts';
import { type Value, code, constant, toJavaScript, valueOf } from '../expressions/value.ts';
import { filled } from './parameters.ts';

export function convertTelegram(context: NodeContext): Draft {
  const { parameters } = context;
  const resource = textOf(parameters['resource'], 'message');
  const operation = textOf(parameters['operation'], 'sendMessage');
  const mode = textOf(memberOf(parameters, 'additionalFields.parse_mode'), 'Markdown');
  const credential = context.credential(['telegramApi']);
  if (resource !== 'message' || operation !== 'sendMessage')
    throw new Error(`Telegram: ${resource} ${operation} has no counterpart: send_message sends texts`);
  if (textOf(parameters['replyMarkup'], 'none') !== 'none') context.note('review', 'buttons are left out');
  return convertCall(context, {
    skill: 'send_message',
    credential,
    parameters: {
      chatId: valueOf(textOf(parameters['chatId']) || '0'),
      text: textIn(mode, textOf(parameters['text']) || '-'),
      format: constant('Markdown'),
      replyTo: filled(memberOf(parameters, 'additionalFields.reply_to_message_id')),
    },
    items: (r) => `[{ ok: true, result: { message_id: ${r}.message_ids[0], chat: { id: ${r}.chat_id } } }]`,
  });
}

/** The text in the Markdown of send_message. Telegram has one asterisk for bold, and two for nothing. */
function textIn(mode: string, raw: string): Value {
  if (mode === 'HTML') {
    const text = toJavaScript(valueOf(raw));
    return code(`telegramHtml(${text})`);
  }
  const value = valueOf(raw);
  const bold = (text: string) => text.replaceAll(/(?<![*\\])\*(?![*\s])|(?<![*\\\s])\*(?!\*)/g, '**');
  if (value.kind === 'constant') return constant(bold(textOf(value.value)));
  if (value.kind !== 'text') return value;
  return {
    kind: 'text',
    parts: value.parts.map((part) => ('text' in part ? { text: bold(part.text) } : part)),
  };
}
