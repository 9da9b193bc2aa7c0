/** Slack. */
import { convertCall } from '../steps/call.ts';
import { isFilled, memberOf, textOf } from '../model/json.ts';
import type { Draft } from '../steps/items.ts';
import { type NodeContext, codeNode, joinInputs } from '../steps/context.ts';
import { type Value, code, constant, objectValue, toJavaScript, valueOf } from '../expressions/value.ts';
import { convertRequest } from '../steps/request.ts';
import { filled } from './parameters.ts';

const SLACK = 'https://slack.com/api';

const METHODS: Record<string, string> = {
  'message update': 'chat.update',
  'message delete': 'chat.delete',
  'channel getAll': 'conversations.list',
  'channel history': 'conversations.history',
  'channel create': 'conversations.create',
  'channel get': 'conversations.info',
  'channel replies': 'conversations.replies',
  'user info': 'users.info',
  'user getAll': 'users.list',
  'reaction add': 'reactions.add',
};

export function convertSlack(context: NodeContext): Draft {
  const { parameters } = context;
  const resource = textOf(parameters['resource'], 'message');
  const operation = textOf(
    parameters['operation'],
    { message: 'post', user: 'info', channel: 'create' }[resource] ?? 'getAll',
  );
  if (resource === 'message' && operation === 'post') return postMessage(context);
  const method = METHODS[`${resource} ${operation}`];
  if (method === undefined)
    throw new Error(`Slack: ${resource} ${operation} has no counterpart: write an http_request`);
  if (parameters['returnAll'] === true)
    context.note(
      'review',
      'only the first page of the list is requested: put the step into a group with repeat',
    );
  return requestSlack(
    context,
    method,
    {
      channel: filled(parameters['channelId']),
      ts: filled(parameters['ts']),
      timestamp: filled(parameters['timestamp']),
      text: filled(parameters['text']),
      user: filled(parameters['user']),
      name: filled(parameters['name'] ?? parameters['channelName']),
    },
    'body.channels ?? body.members ?? body.messages ?? body.channel ?? body.user ?? body',
  );
}

/** What Slack gives a meaning in texts, and `send_message` shows as it is. */
const MARKS = /<[@!#]|<https?:|<\{\{|<=/;

function postMessage(context: NodeContext): Draft {
  const { parameters } = context;
  const target = valueOf(targetOf(context).replace(/^#/, '') || 'replace-me');
  const text = textOf(parameters['text']) || textOf(memberOf(parameters, 'otherOptions.text'));
  const thread = filled(memberOf(parameters, 'otherOptions.thread_ts.replyValues.thread_ts'));
  const blocks = textOf(parameters['blocksUi']);
  if (isFilled(parameters['attachments'])) context.note('review', 'attachments are left out');
  if (blocks === '' && !MARKS.test(text)) {
    const isMarkup = memberOf(parameters, 'otherOptions.mrkdwn') !== false;
    return convertCall(context, {
      skill: 'send_message',
      credential: context.credential(['slackBot']),
      parameters: {
        chatId: target,
        text: isMarkup ? asMarkdown(valueOf(text || '-')) : valueOf(text || '-'),
        ...(isMarkup && { format: constant('Markdown') }),
        replyTo: thread,
      },
      items: (r) =>
        `[{ ok: true, ts: ${r}.message_ids[0], channel: ${r}.chat_id, message_timestamp: ${r}.message_ids[0] }]`,
    });
  }
  return requestSlack(
    context,
    'chat.postMessage',
    {
      channel: target,
      text: filled(text),
      blocks:
        blocks === ''
          ? undefined
          : code(`[parseJson(${toJavaScript(valueOf(blocks))})].map((given) => given.blocks ?? given)[0]`),
      thread_ts: thread,
      mrkdwn: memberOf(parameters, 'otherOptions.mrkdwn') === false ? constant(false) : undefined,
    },
    'body',
  );
}

function targetOf({ parameters }: NodeContext): string {
  return textOf(parameters[parameters['select'] === 'user' ? 'user' : 'channelId'] ?? parameters['channel']);
}

/** Slack has one asterisk for bold, and one tilde for text that is struck out. */
function asMarkdown(value: Value): Value {
  const double = (text: string) =>
    text
      .replaceAll(/(?<![*\\])\*(?![*\s])|(?<![*\\\s])\*(?!\*)/g, '**')
      .replaceAll(/(?<![~\w])~(?![~\s])|(?<![~\s])~(?![~\w])/g, '~~');
  if (value.kind === 'constant') return constant(double(textOf(value.value)));
  if (value.kind !== 'text') return value;
  return {
    kind: 'text',
    parts: value.parts.map((part) => ('text' in part ? { text: double(part.text) } : part)),
  };
}

/**
 * A request to a method of Slack's API. Slack answers 200 to what it refuses: a node behind the request
 * fails then. `result`: JavaScript for the items in `body`.
 */
function requestSlack(
  context: NodeContext,
  method: string,
  body: Record<string, Value | undefined>,
  result: string,
): Draft {
  const isForm = method !== 'chat.postMessage';
  const draft = convertRequest(context, {
    method: constant('POST'),
    url: constant(`${SLACK}/${method}`),
    body: objectValue(body),
    contentType: isForm ? 'application/x-www-form-urlencoded' : undefined,
    credential: context.credential(['slackApi', 'slackOAuth2Api']),
    items: (r) => `[${r}.body]`,
    expands: false,
  });
  const [answers] = draft.outputs;
  if (!answers) return draft;
  if (context.node.onError !== 'stop')
    context.note('review', 'what Slack refuses with status 200 and ok: false is no failure');
  const id = context.newId('answer');
  const source = `const refused = $in.find((body) => body?.ok === false);
if (refused) throw new Error('Slack refuses ${method}: ' + refused.error);
return $in.flatMap((body) => responseItems(${result}));`;
  const plain = { ...context, node: { ...context.node, executeOnce: false } };
  const check = codeNode(
    plain,
    id,
    context.node.onError === 'stop' ? source : source.split('\n').slice(2).join('\n'),
    [joinInputs([answers])],
  );
  return {
    nodes: [...draft.nodes, check],
    edges: [...draft.edges, { from: answers.node, to: id }],
    entry: draft.entry,
    outputs: [
      {
        node: id,
        list: `(nodes.${id}?.data_content ?? [])`,
        array: `$('${id}').data_content`,
        when: `size(nodes.${id}.data_content) > 0`,
        lineage: id,
      },
      ...draft.outputs.slice(1),
    ],
  };
}
