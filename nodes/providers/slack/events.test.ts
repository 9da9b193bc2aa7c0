import { expect, test } from 'vitest';
import type { Received, ReceivedMessage } from '../../contract/messenger.ts';
import { readSlack } from './events.ts';

const EVENT = {
  type: 'message',
  channel: 'C024BE91L',
  user: 'U2147483697',
  text: 'Hello',
  ts: '1355517523.000005',
};
const body = (event: object = {}, over: object = {}) => ({
  token: 'one-long-verification-token',
  team_id: 'T061EG9R6',
  api_app_id: 'A0PNCHHK2',
  event: { ...EVENT, channel_type: 'channel', ...event },
  type: 'event_callback',
  event_id: 'Ev0PV52K21',
  event_time: 1_355_517_523,
  ...over,
});

function message(received: Received): ReceivedMessage {
  if (received.kind !== 'message') throw new Error(`it is ${received.kind}`);
  return received;
}

test('a message becomes its text, the channel, who wrote it and its type', () => {
  expect(readSlack(body({ text: 'a &lt;b&gt; &amp;amp; <@U1>' }))).toEqual({
    kind: 'message',
    id: 'C024BE91L/1355517523.000005',
    chatType: 'channel',
    command: 'a',
    output: {
      text_content: 'a <b> &amp; <@U1>',
      data_content: {
        chat_id: 'C024BE91L',
        from: { first_name: '', username: 'U2147483697' },
        message_type: 'text',
      },
    },
  });
});

test('Slack asks for its challenge', () => {
  expect(readSlack({ type: 'url_verification', token: 'x', challenge: '3eZb' })).toEqual({
    kind: 'challenge',
    text: '3eZb',
  });
});

test.each([
  [{ type: 'app_mention', channel_type: undefined }, 'app_mention', 'channel'],
  [{ subtype: 'file_share', files: [{ id: 'F1' }], channel_type: 'im' }, 'file', 'private'],
  [{ subtype: 'thread_broadcast', channel_type: 'mpim' }, 'text', 'group'],
  [{ channel_type: 'group' }, 'text', 'group'],
  [{ channel_type: undefined, channel: 'D1' }, 'text', 'private'],
  [{ channel_type: 'app_home' }, 'text', undefined],
])('%j is of type %s in a %s', (event, type, chatType) => {
  const received = message(readSlack(body(event)));
  expect([received.output.data_content.message_type, received.chatType]).toEqual([type, chatType]);
});

const OURS = 'U0LAN0Z89';
const ofApp = { authorizations: [{ team_id: 'T061EG9R6', user_id: OURS, is_bot: true }] };

test('a mention that Slack sends twice, as a message and as a mention, is one, and shown alike', () => {
  const text = `Hello <@${OURS}>`;
  const [mention, written] = [{ type: 'app_mention', channel_type: undefined }, { type: 'message' }].map(
    (event, at) => message(readSlack(body({ ...event, text }, { ...ofApp, event_id: `Ev${at}` }))),
  );
  expect(mention?.id).toBe('C024BE91L/1355517523.000005');
  expect(written?.id).toBe(mention?.id);
  expect(written?.output).toEqual(mention?.output);
  expect(mention?.output.data_content.message_type).toBe('app_mention');
});

test('messages of the same moment in two channels, and those that follow each other, are several', () => {
  const ids = [{}, { channel: 'C2' }, { ts: '1355517523.000006' }].map(
    (event) => message(readSlack(body(event))).id,
  );
  expect(new Set(ids).size).toBe(3);
});

test('a message without a time is named by its event', () => {
  expect(message(readSlack(body({ ts: undefined }))).id).toBe('Ev0PV52K21');
});

test('a call for somebody else is no mention', () => {
  const received = message(readSlack(body({ text: '<@U1> and <!here>' }, ofApp)));
  expect(received.output.data_content.message_type).toBe('text');
});

test('a name that comes with the message is told', () => {
  const user_profile = { first_name: 'Ada', name: 'ada', display_name: 'ada l' };
  expect(message(readSlack(body({ user_profile }))).output.data_content.from).toEqual({
    first_name: 'Ada',
    username: 'ada',
  });
});

test.each([
  ['what a bot has written', body({ bot_id: 'B1' })],
  ['what a bot has written without a user', body({ subtype: 'bot_message', user: undefined })],
  ['what our own bot has written', body({ user: OURS, files: [{ id: 'F1' }], subtype: 'file_share' }, ofApp)],
  ['what Slackbot has written', body({ user: 'USLACKBOT' })],
  ['an edit', body({ subtype: 'message_changed' })],
  ['a deletion', body({ subtype: 'message_deleted' })],
  ['who joined', body({ subtype: 'channel_join' })],
  ['a reaction', body({ type: 'reaction_added' })],
  ['an event without an id', body({}, { event_id: undefined })],
  ['an event without a body', body({}, { event: null })],
  ['a warning of limits', { type: 'app_rate_limited', minute_rate_limited: 1 }],
  ['a challenge without a text', { type: 'url_verification' }],
  ['a list', [body()]],
  ['nothing', null],
])('%s is none', (_what, sent) => {
  expect(readSlack(sent)).toEqual({ kind: 'other' });
});

test.each([
  ['deploy now', 'deploy'],
  ['/Deploy now', 'deploy'],
  ['<@U0LAN0Z89> deploy now', 'deploy'],
  ['<@U0LAN0Z89|bot>: deploy', 'deploy'],
  ['<@U0LAN0Z89>', undefined],
  ['', undefined],
])('the command of %j is %s', (text, command) => {
  expect(message(readSlack(body({ text }))).command).toBe(command);
});
