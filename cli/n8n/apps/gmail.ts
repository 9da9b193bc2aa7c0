/** Gmail. */
import type { Call } from '../steps/call.ts';
import { memberOf, numberOf, textOf } from '../model/json.ts';
import type { Draft } from '../steps/items.ts';
import type { NodeContext } from '../steps/context.ts';
import { type Value, code, constant, objectValue, toJavaScript, valueOf } from '../expressions/value.ts';
import { convertRequest } from '../steps/request.ts';
import { filled } from './parameters.ts';

const GMAIL = 'https://gmail.googleapis.com/gmail/v1/users/me';

const path = (base: string, raw: unknown, rest = ''): Value =>
  code(
    `${JSON.stringify(`${GMAIL}/${base}/`)} + encodeURIComponent(${toJavaScript(valueOf(raw ?? ''))}) + ${JSON.stringify(rest)}`,
  );

function gmailMessage(context: NodeContext, more: Record<string, Value | undefined>): Value {
  const { parameters } = context;
  const type = textOf(parameters['emailType'], context.node.version >= 2 ? 'html' : 'text');
  const raw = parameters['message'] ?? parameters['htmlMessage'] ?? '';
  if (
    memberOf(parameters, 'options.attachmentsUi') !== undefined ||
    memberOf(parameters, 'additionalFields.attachmentsUi') !== undefined
  )
    context.note('review', 'attachments are left out');
  const mail = objectValue({
    to: filled(parameters['sendTo'] ?? parameters['toList']),
    cc: filled(memberOf(parameters, 'options.ccList')),
    bcc: filled(memberOf(parameters, 'options.bccList')),
    replyTo: filled(memberOf(parameters, 'options.replyTo')),
    subject: filled(parameters['subject']),
    html:
      type === 'html' || parameters['includeHtml'] === true
        ? filled(parameters['htmlMessage'] ?? raw)
        : undefined,
    text: type === 'html' ? undefined : filled(raw),
    ...more,
  });
  return code(`mailOf(${toJavaScript(mail)})`);
}

/** The change of the labels of a message that the operation makes. */
function labelChange(operation: string, raw: unknown): Value | undefined {
  const labels = valueOf(Array.isArray(raw) || typeof raw === 'string' ? raw : []);
  const changes: Record<string, Value> = {
    addLabels: objectValue({ addLabelIds: labels }),
    removeLabels: objectValue({ removeLabelIds: labels }),
    markAsRead: constant({ removeLabelIds: ['UNREAD'] }),
    markAsUnread: constant({ addLabelIds: ['UNREAD'] }),
  };
  return Object.hasOwn(changes, operation) ? changes[operation] : undefined;
}

type Send = (
  method: string,
  url: Value,
  more?: { body?: Value; query?: Value | undefined; items?: Call['items'] },
) => Draft;

function listGmail(context: NodeContext, resource: string, send: Send): Draft {
  const { parameters } = context;
  if (resource === 'label')
    return send('GET', constant(`${GMAIL}/labels`), { items: (r) => `${r}.body.labels ?? []` });
  context.note('review', 'the list has IDs of messages alone: get each message with a further request');
  const limit = parameters['returnAll'] === true ? 500 : (numberOf(parameters['limit']) ?? 50);
  return send('GET', constant(`${GMAIL}/${resource === 'thread' ? 'threads' : 'messages'}`), {
    query: objectValue({
      maxResults: constant(Math.min(limit, 500)),
      q: filled(memberOf(parameters, 'filters.q')),
    }),
    items: (r) => `${r}.body.messages ?? ${r}.body.threads ?? []`,
  });
}

export function convertGmail(context: NodeContext): Draft {
  const { parameters } = context;
  const resource = textOf(parameters['resource'], 'message');
  const operation = textOf(parameters['operation'], resource === 'message' ? 'send' : 'getAll');
  const credential = context.credential(['gmailOAuth2', 'googleApi']);
  const id = parameters['messageId'] ?? parameters['threadId'];
  const send = (
    method: string,
    url: Value,
    more: { body?: Value; query?: Value | undefined; items?: Call['items'] } = {},
  ) => convertRequest(context, { method: constant(method), url, credential, ...more, items: more.items });
  const of = resource === 'thread' ? 'threads' : 'messages';
  const change = labelChange(operation, parameters['labelIds']);
  if (change) return send('POST', path(of, id, '/modify'), { body: change });
  switch (operation) {
    case 'send':
      return send('POST', constant(`${GMAIL}/messages/send`), {
        body: objectValue({ raw: gmailMessage(context, {}) }),
      });
    case 'create':
      if (resource === 'draft')
        return send('POST', constant(`${GMAIL}/drafts`), {
          body: objectValue({
            message: objectValue({
              raw: gmailMessage(context, {}),
              threadId: filled(memberOf(parameters, 'options.threadId')),
            }),
          }),
        });
      break;
    case 'get':
      return send('GET', path(of, id), {
        query: constant({ format: 'full' }),
        items: (r) => `[gmailItem(${r}.body)]`,
      });
    case 'delete':
      return send('DELETE', path(of, id));
    case 'trash':
    case 'untrash':
      return send('POST', path(of, id, `/${operation}`));
    case 'getAll':
      return listGmail(context, resource, send);
    case 'reply': {
      context.note('review', 'the reply needs to, subject and threadId of the mail: set them');
      return send('POST', constant(`${GMAIL}/messages/send`), {
        body: objectValue({ raw: gmailMessage(context, {}), threadId: filled(id) }),
      });
    }
    default:
  }
  throw new Error(`Gmail: ${resource} ${operation} has no counterpart`);
}
