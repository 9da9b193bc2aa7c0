/** Telegram Trigger and Slack Trigger. */
import { listOf, textOf } from '../model/json.ts';
import type { Draft } from '../steps/items.ts';
import type { NodeContext } from '../steps/context.ts';
import { type Field, draftOf } from './event.ts';

const MESSAGE_FIELDS: Field[] = [
  [['message', 'text'], '.text_content'],
  [['message', 'chat', 'id'], '.data_content.chat_id'],
  [['message', 'from', 'id'], '.data_content.chat_id'],
  [['message', 'from', 'first_name'], '.data_content.from.first_name'],
  [['message', 'from', 'username'], '.data_content.from.username'],
  [['message', 'chat', 'first_name'], '.data_content.from.first_name'],
];

export function convertTelegramTrigger(context: NodeContext): Draft {
  const { id, parameters } = context;
  const updates = listOf(parameters['updates']).map((each) => textOf(each));
  if (updates.some((update) => !['message', 'channel_post', '*'].includes(update)))
    context.note(
      'review',
      `only new messages start runs, not ${updates.filter((update) => update !== 'message').join(', ')}`,
    );
  const text = JSON.stringify(context.workflow.nodes.map(({ parameters }) => parameters));
  const files = /message\.(?:voice|photo|document|audio|video|caption|location)\b/.exec(text)?.[0];
  if (files !== undefined) context.note('review', `the event has no ${files}: message_type says what came`);
  const d = `nodes.${id}.data_content`;
  return draftOf(context, {
    trigger: { bot: { credential: context.credential(['telegramApi']) } },
    list: `[{ message: { text: nodes.${id}.text_content, chat: { id: ${d}.chat_id, first_name: ${d}.from.first_name, username: ${d}.from.username }, from: { id: ${d}.chat_id, first_name: ${d}.from.first_name, username: ${d}.from.username } } }]`,
    fields: MESSAGE_FIELDS,
  });
}

export function convertSlackTrigger(context: NodeContext): Draft {
  const { id, parameters } = context;
  const kinds = listOf(parameters['trigger']).map((each) => textOf(each));
  if (kinds.some((kind) => !['message', 'app_mention'].includes(kind)))
    context.note('review', 'only messages and mentions start runs');
  const d = `nodes.${id}.data_content`;
  return draftOf(context, {
    trigger: { bot: { credential: context.credential(['slackBot']) } },
    list: `[{ type: ${d}.message_type, text: nodes.${id}.text_content, channel: ${d}.chat_id, user: ${d}.from.username }]`,
    fields: [
      [['text'], '.text_content'],
      [['channel'], '.data_content.chat_id'],
      [['user'], '.data_content.from.username'],
    ],
  });
}
