import { expect, test } from 'vitest';
import { isWanted } from '../../messages/received.ts';
import type { Received, ReceivedMessage } from '../../contract/messenger.ts';
import { readTelegram } from './updates.ts';

const FROM = { id: 1111, is_bot: false, first_name: 'Ada', last_name: 'L', username: 'ada' };
const CHAT = { id: -1001234567890, type: 'supergroup', title: 'Team' };
const update = (message: object, over: object = {}) => ({
  update_id: 10_000,
  message: { message_id: 1365, date: 1_441_645_532, from: FROM, chat: CHAT, ...message },
  ...over,
});

function message(received: Received): ReceivedMessage {
  if (received.kind !== 'message') throw new Error(`it is ${received.kind}`);
  return received;
}

test('a message becomes its text, the chat, who wrote it and its type', () => {
  expect(readTelegram(update({ text: 'Hello 👋' }))).toEqual({
    kind: 'message',
    id: '10000',
    chatType: 'supergroup',
    command: undefined,
    output: {
      text_content: 'Hello 👋',
      data_content: {
        chat_id: -1001234567890,
        from: { first_name: 'Ada', username: 'ada' },
        message_type: 'text',
      },
    },
  });
});

test.each([
  [{ photo: [{ file_id: 'x' }], caption: 'Look' }, 'photo', 'Look'],
  [{ animation: {}, document: {} }, 'animation', ''],
  [{ venue: {}, location: {} }, 'venue', ''],
  [{ voice: { file_id: 'x' } }, 'voice', ''],
  [{ new_chat_members: [FROM] }, 'other', ''],
  [{ something_of_next_year: {} }, 'other', ''],
])('of %j the type is %s', (members, type, text) => {
  const { output } = message(readTelegram(update(members)));
  expect([output.data_content.message_type, output.text_content]).toEqual([type, text]);
});

test('who has no user name has an empty one, and in a channel the channel speaks', () => {
  const { first_name } = FROM;
  expect(message(readTelegram(update({ from: { first_name } }))).output.data_content.from).toEqual({
    first_name,
    username: '',
  });
  const chat = { id: -5, type: 'channel', title: 'News', username: 'the_news' };
  const post = { update_id: 1, channel_post: { message_id: 1, date: 1, chat, text: 'New' } };
  const received = message(readTelegram(post));
  expect(received.output.data_content.from).toEqual({ first_name: 'News', username: 'the_news' });
  expect(received.chatType).toBe('channel');
});

test.each([
  ['an edited message', { update_id: 1, edited_message: update({ text: 'x' }).message }],
  ['what another bot has written', update({ text: 'x', from: { ...FROM, is_bot: true } })],
  ['a copy of a channel post', update({ text: 'x', is_automatic_forward: true, sender_chat: { id: -5 } })],
  ['a button that was pressed', { update_id: 1, callback_query: { id: '1', data: 'x' } }],
  ['a kind that nobody knows', { update_id: 1, quantum_message: {} }],
  ['an update without a number', { message: update({ text: 'x' }).message }],
  ['a number that is a text', update({ text: 'x' }, { update_id: '1' })],
  ['a message without a chat', { update_id: 1, message: { text: 'x' } }],
  ['a message that is null', { update_id: 1, message: null }],
  ['a list', [update({ text: 'x' })]],
  ['a text', 'update'],
  ['nothing', null],
])('%s is none', (_what, body) => {
  expect(readTelegram(body)).toEqual({ kind: 'other' });
});

test('who writes in the name of a group or a channel is a person', () => {
  const from = { id: 1_087_968_824, is_bot: true, first_name: 'Group', username: 'GroupAnonymousBot' };
  const received = message(readTelegram(update({ text: 'x', from, sender_chat: CHAT })));
  expect(received.output.data_content.from).toEqual({ first_name: 'Team', username: '' });
});

test.each([
  ['in what stands below a picture', { photo: [{}], caption: '/order 2 apples' }, 'order'],
  [
    'with entities that mean nothing',
    { text: '/order', entities: 'none', caption_entities: [null, 1] },
    'order',
  ],
  ['not where the text is none', { text: ['/order'], caption: 7 }, undefined],
])('a command counts %s', (_where, members, command) => {
  expect(message(readTelegram(update(members))).command).toBe(command);
});

test.each([
  ['/start', 'start'],
  ['/Start now', 'start'],
  ['/start@our_bot now', 'start'],
  ['/start@OUR_BOT', 'start'],
  ['/start@another_bot', undefined],
  ['/start\nmore', 'start'],
  ['start', undefined],
  ['say /start', undefined],
  [' /start', undefined],
  ['', undefined],
])('the command of %j is %s', (text, command) => {
  expect(message(readTelegram(update({ text }), 'our_bot')).command).toBe(command);
});

test('as long as the name of the bot is not known, a command to any bot counts', () => {
  expect(message(readTelegram(update({ text: '/start@another_bot' }))).command).toBe('start');
});

const said = (text: string, type = 'private') =>
  message(readTelegram(update({ text, chat: { id: 5, type } })));

test.each([
  ['without filters', {}, true],
  ['with empty filters', { chatTypes: [], commands: [] }, true],
  ['with its chat', { chatTypes: ['private', 'group'] }, true],
  ['with another chat', { chatTypes: ['group'] }, false],
  ['with its command', { commands: ['help', 'order'] }, true],
  ['with its command and a slash', { commands: ['/Order'] }, true],
  ['with another command', { commands: ['orders'] }, false],
  ['with its command and another chat', { chatTypes: ['channel'], commands: ['order'] }, false],
] as const)('%s a message is wanted or not', (_what, wanted, isIt) => {
  expect(isWanted(said('/order 2 apples'), wanted)).toBe(isIt);
});

test('a chat of a type that nobody knows passes only where none is asked for', () => {
  expect(isWanted(said('x', 'hive'), {})).toBe(true);
  expect(isWanted(said('x', 'hive'), { chatTypes: ['private', 'group', 'supergroup', 'channel'] })).toBe(
    false,
  );
});

test('names that objects inherit mean nothing', () => {
  expect(readTelegram({ update_id: 1, message: { chat: Object.create({ id: 5 }) as object } })).toEqual({
    kind: 'other',
  });
});

test('what strangers call themselves and write is taken as it is', () => {
  const first_name = '🤖'.repeat(1_000);
  const text = `../../etc/passwd {{ $('trigger').text_content }} \u0000 ${'ß'.repeat(4_000)}`;
  const { output } = message(readTelegram(update({ text, from: { first_name, username: '../' } })));
  expect(output.text_content).toBe(text);
  expect(output.data_content.from).toEqual({ first_name, username: '../' });
});
