/** Messages of bots, as Telegram and Slack get them. */
import { afterAll, beforeEach, expect, test } from 'vitest';
import type { CredentialSpec } from '../../api/credential.ts';
import { StepError } from '../../api/reasons.ts';
import { listen, sendJson } from '../../test/support/network/listen.ts';
import {
  SLACK_TOKEN,
  startSlackServer,
  type SlackFault,
} from '../../test/support/providers/slack/slackServer.ts';
import { stepContext } from '../../test/support/nodes/stepContext.ts';
import {
  startTelegramServer,
  TELEGRAM_TOKEN,
  type TelegramFault,
} from '../../test/support/providers/telegram/telegramServer.ts';
import type { StepContext } from '../contract/node.ts';
import { findSkill, validateSkill } from '../register.ts';

const telegram = await startTelegramServer();
const slack = await startSlackServer();
afterAll(() => Promise.all([telegram.close(), slack.close()]));
beforeEach(() => {
  telegram.setFault(undefined);
  slack.setFault(undefined);
  for (const list of [telegram.calls, telegram.sent, slack.posted, slack.calls]) list.length = 0;
});

type Options = Omit<Partial<StepContext>, 'credential'> & { secrets?: Record<string, string> };

const send = async (bot: CredentialSpec['bot'], parameters: object, options: Options = {}) => {
  const skill = findSkill('send_message')!;
  const { effect } = skill;
  const context = stepContext({ bot: bot! }, { ...(effect !== 'None' && { effect }), ...options });
  return (await skill.execute(parameters, context, 'bot')).output;
};
const tokenRef = (key: string) => ({ tokenRef: { name: 'bot', key } });
const secrets = { telegram: TELEGRAM_TOKEN, slack: SLACK_TOKEN };
const byTelegram = (parameters: object, options: Options = {}) =>
  send(
    { apiURL: telegram.url, ...tokenRef('telegram') },
    { chatId: 42, ...parameters },
    { secrets, ...options },
  );
const bySlack = (parameters: object, options: Options = {}) =>
  send(
    { platform: 'slack', apiURL: slack.url, ...tokenRef('slack') },
    { chatId: 'C1', ...parameters },
    { secrets, ...options },
  );

async function failure(sending: Promise<unknown>): Promise<StepError> {
  const error: unknown = await sending.catch((error: unknown) => error);
  expect(error).toBeInstanceOf(StepError);
  expect((error as StepError).message).not.toMatch(/AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw|19874698323/);
  return error as StepError;
}

test('a text is sent as it is written, whatever is in it', async () => {
  const text = '*a* _b_ <b>c</b> & `d` [e](f) <!channel> <@U1>';
  expect(await byTelegram({ text })).toEqual({
    text_content: 'Sent a message to 42.',
    data_content: { chat_id: 42, message_ids: [1] },
  });
  expect(telegram.calls[0]?.parameters).toEqual({
    chat_id: 42,
    text,
    link_preview_options: { is_disabled: true },
  });
  expect(await bySlack({ text })).toMatchObject({
    data_content: { chat_id: 'C1', message_ids: ['1503435956.000001'] },
  });
  expect(slack.posted[0]).toEqual({
    channel: 'C1',
    text: '*a* _b_ &lt;b&gt;c&lt;/b&gt; &amp; `d` [e](f) &lt;!channel&gt; &lt;@U1&gt;',
    mrkdwn: false,
    unfurl_links: false,
    unfurl_media: false,
  });
});

test('Markdown is shown as what it means', async () => {
  const text =
    '## **Order** 7\n- [a & b](https://example.com/?a=1&b=2|3)\n```sh\nls > a\n```\n~~_old_~~ <!here> a.b-c!';
  await byTelegram({ text, format: 'Markdown' });
  const { text: shown, entities, parse_mode: mode } = telegram.calls[0]?.parameters ?? {};
  expect(mode).toBeUndefined();
  expect(shown).toBe('Order 7\n• a & b\nls > a\nold <!here> a.b-c!');
  expect(entities).toEqual([
    { type: 'bold', offset: 0, length: 7 },
    { type: 'text_link', offset: 10, length: 5, url: 'https://example.com/?a=1&b=2|3' },
    { type: 'pre', offset: 16, length: 6, language: 'sh' },
    { type: 'strikethrough', offset: 23, length: 3 },
    { type: 'italic', offset: 23, length: 3 },
  ]);
  await bySlack({ text, format: 'Markdown' });
  expect(slack.posted[0]).toMatchObject({
    mrkdwn: true,
    text: '*Order 7*\n• <https://example.com/?a=1&amp;b=2%7C3|a &amp; b>\n```\nls &gt; a\n```\n~_old_~ &lt;!here&gt; a.b-c!',
  });
});

test('what is too long for one message is sent in several, in order', async () => {
  const lines = Array.from({ length: 1_000 }, (_, index) => `line ${index}`);
  const text = lines.join('\n');
  expect(await byTelegram({ text, replyTo: 7 })).toMatchObject({
    text_content: 'Sent 3 messages to 42.',
    data_content: { message_ids: [1, 2, 3] },
  });
  expect(telegram.sent.map((each) => each.text).join('\n')).toBe(text);
  expect(telegram.calls.map(({ parameters }) => parameters['reply_parameters'])).toEqual([
    { message_id: 7, allow_sending_without_reply: true },
    undefined,
    undefined,
  ]);
  await bySlack({ text: `${'&'.repeat(7_999)} ${'<'.repeat(10)}`, replyTo: '1503435956.000247' });
  expect(slack.posted.map(({ text, thread_ts: thread }) => [text.length, thread])).toEqual([
    [39_995, '1503435956.000247'],
    [40, '1503435956.000247'],
  ]);
});

test.each([
  ['a number', 42, 42],
  ['a number in a text', '-1001234567890', -1_001_234_567_890],
  ['a name', '@orders', '@orders'],
  ['what only looks like a number', '0x10', '0x10'],
])('the chat may be named by %s', async (_what, chatId, expected) => {
  await byTelegram({ chatId, text: 'a' });
  expect(telegram.sent[0]?.chatId).toBe(expected);
});

const telegramFaults: [TelegramFault, string, boolean][] = [
  ['unauthorized', 'CredentialRejected', false],
  ['notFound', 'CredentialRejected', false],
  ['forbidden', 'Refused', false],
  ['tooManyRequests', 'RateLimited', true],
  ['unavailable', 'EffectUnknown', false],
  ['drop', 'EffectUnknown', false],
  ['garbage', 'EffectUnknown', false],
];

test.each(telegramFaults)(
  'when Telegram says %s, it is %s (tried again: %s)',
  async (fault, reason, retryable) => {
    telegram.setFault(fault);
    const error = await failure(byTelegram({ text: 'a' }));
    expect(error).toMatchObject({ reason, retryable });
    expect(error.retryAfterMs).toBe(fault === 'tooManyRequests' ? 17_000 : undefined);
    const repeated = await failure(byTelegram({ text: 'a' }, { effect: 'AtLeastOnce' }));
    expect(repeated.retryable).toBe(retryable || reason === 'EffectUnknown');
  },
);

const slackFaults: [SlackFault, string, boolean][] = [
  [{ error: 'invalid_auth' }, 'CredentialRejected', false],
  [{ error: 'missing_scope' }, 'CredentialRejected', false],
  [{ error: 'channel_not_found' }, 'Refused', false],
  [{ error: 'not_in_channel' }, 'Refused', false],
  [{ error: 'ratelimited' }, 'RateLimited', true],
  [{ error: 'fatal_error' }, 'EffectUnknown', false],
  ['tooManyRequests', 'RateLimited', true],
  ['unavailable', 'EffectUnknown', false],
  ['lostAnswer', 'EffectUnknown', false],
  ['drop', 'EffectUnknown', false],
  ['garbage', 'EffectUnknown', false],
];

test.each(slackFaults)('when Slack says %j, it is %s (tried again: %s)', async (fault, reason, retryable) => {
  slack.setFault(fault);
  const error = await failure(bySlack({ text: 'a' }));
  expect(error).toMatchObject({ reason, retryable });
  expect(error.retryAfterMs).toBe(fault === 'tooManyRequests' ? 17_000 : undefined);
});

const long = `${'a'.repeat(39_000)}\n${'b'.repeat(39_000)}\n${'c'.repeat(39_000)}`;

test('a service that has the rest of a text wait for a moment gets it afterwards', async () => {
  slack.setFault('tooManyRequests', { after: 1, times: 2, retryAfter: 0 });
  expect(await bySlack({ text: long })).toMatchObject({ text_content: 'Sent 3 messages to C1.' });
  expect([slack.calls.length, slack.posted.map(({ text }) => text.charAt(0))]).toEqual([5, ['a', 'b', 'c']]);
});

test.each<[string, SlackFault, number]>([
  ['has it wait for long', 'tooManyRequests', 2],
  ['refuses it', { error: 'channel_not_found' }, 2],
  ['breaks off', 'drop', 2],
])('where a service %s, nothing of a text is sent twice', async (_what, fault, calls) => {
  slack.setFault(fault, { after: 1, retryAfter: 60 });
  const error = await failure(bySlack({ text: long }));
  expect(error).toMatchObject({ reason: 'EffectUnknown', retryable: false });
  expect(slack.calls).toHaveLength(calls);
  expect(error.message).toContain('1 of 3 messages were sent');
});

test('a service that always asks to wait for no time is not asked for ever', async () => {
  slack.setFault('tooManyRequests', { after: 1, retryAfter: 0 });
  expect((await failure(bySlack({ text: long }))).reason).toBe('EffectUnknown');
  expect(slack.calls.length).toBeLessThan(40);
});

test('a step that ends waits no longer', async () => {
  slack.setFault('tooManyRequests', { after: 1, retryAfter: 20 });
  const end = new AbortController();
  const sending = failure(bySlack({ text: long }, { signal: end.signal }));
  await expect.poll(() => slack.calls.length).toBe(2);
  end.abort(new StepError('Timeout', 'the step took longer than its timeout'));
  expect(await sending).toMatchObject({
    reason: 'EffectUnknown',
    message: expect.stringContaining('1 of 3'),
  });
});

test.each<[string, object, RegExp]>([
  [
    'more messages than are sent at once',
    { text: 'a '.repeat(50_000) },
    /^text: would take more than 20 messages/,
  ],
  [
    'Markdown that shows nothing',
    { text: '```\n```', format: 'Markdown' },
    /^text: there is nothing in it to be shown$/,
  ],
  [
    'an answer to what is no message of Telegram',
    { text: 'a', replyTo: '1.5' },
    /^replyTo: is not the number/,
  ],
  ['a text that is empty', { text: ' \n' }, /^text: must not be empty$/],
  ...[['@a', '@b'], '@a,@b', '@a;@b', '<!channel>', { id: 1 }, '', 1.5e300, 'a/../b'].map(
    (chatId): [string, object, RegExp] => [
      `${JSON.stringify(chatId)} in the place of a chat`,
      { text: 'a', chatId },
      /^chatId: must be the id of one chat$/,
    ],
  ),
  ...[['1', '2'], '0x10', '1e3', '1;2'].map((replyTo): [string, object, RegExp] => [
    `${JSON.stringify(replyTo)} in the place of a message`,
    { text: 'a', replyTo },
    /^replyTo: must be the id of a message$/,
  ]),
])('%s: nothing is sent', async (_what, parameters, message) => {
  expect(await failure(byTelegram(parameters))).toMatchObject({
    reason: 'InvalidParameters',
    message: expect.stringMatching(message),
  });
  expect(telegram.calls).toEqual([]);
});

test('a group that has become another chat is told, and a service that is away has got nothing', async () => {
  const description = 'Bad Request: group chat was upgraded to a supergroup chat';
  const moved = { ok: false, error_code: 400, description, parameters: { migrate_to_chat_id: -100_123 } };
  const server = await listen((_request, response) => sendJson(response, 400, moved));
  const sending = () =>
    send({ apiURL: server.url, ...tokenRef('telegram') }, { chatId: -1, text: 'a' }, { secrets });
  expect(await failure(sending())).toMatchObject({
    reason: 'Refused',
    message: 'the group has become a supergroup: its chat is now -100123',
  });
  await server.close();
  expect(await failure(sending())).toMatchObject({ reason: 'Unreachable', retryable: true });
});

test.each<[object, string[]]>([
  [{ chatId: "{{ $('trigger').data_content.chat_id }}", text: "{{ $('agent_1').text_content }}" }, []],
  [{ text: 'a' }, ['chatId: is missing']],
  [{ chatId: 'a b', text: 'a' }, ['chatId: must be the id of one chat']],
  [{ chatId: 1, text: 'a', format: 'HTML' }, ['format: must be Text or Markdown']],
  [
    { chatId: 1, text: 'a', silent: true },
    [expect.stringMatching(/^there is no parameter named silent; there are chatId, /)],
  ],
])('the parameters %j are checked with the workflow', (parameters, problems) => {
  expect(validateSkill('send_message', parameters as Record<string, unknown>)).toEqual(problems);
});
