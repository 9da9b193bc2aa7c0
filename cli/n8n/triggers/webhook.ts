/** Triggers that get requests: Webhook, webhooks of services, forms and chats. */
import type { WorkflowNode } from '../../../api/workflow.ts';
import { listOf, memberOf, numberOf, textOf } from '../model/json.ts';
import { shortType } from '../model/n8n.ts';
import type { Draft } from '../steps/items.ts';
import type { NodeContext } from '../steps/context.ts';
import { type Field, draftOf } from './event.ts';

/** The URL of a webhook has the name of the Workflow, which that of n8n has not. */
const noteUrl = (context: NodeContext, path: string): void =>
  context.note(
    'converted',
    `it gets a new URL, which ends with /${path}: give it to the callers (status.url)`,
  );

const secretOf = (context: NodeContext, key: string) => [{ name: context.credential(['webhook']), key }];

function webhookAuth(context: NodeContext): NonNullable<WorkflowNode['webhook']>['auth'] {
  switch (textOf(context.parameters['authentication'], 'none')) {
    case 'none':
      return { none: {} };
    case 'basicAuth':
      return { basic: { username: 'user', passwordRefs: secretOf(context, 'password') } };
    case 'headerAuth':
      context.note('review', 'callers send the token as Authorization: Bearer, not in a header of their own');
      return { bearer: { secretRefs: secretOf(context, 'token') } };
    default:
      context.note(
        'review',
        'tokens of JWT are not verified: callers send a fixed token as Authorization: Bearer',
      );
      return { bearer: { secretRefs: secretOf(context, 'token') } };
  }
}

const HEADER = /\bheaders(?:\.([A-Za-z][\w]*)|\[\s*\\?['"]([A-Za-z0-9-]+)\\?['"]\s*\])/g;

/** The headers that expressions of the workflow read. */
function headersOf(context: NodeContext): string[] {
  const text = JSON.stringify(context.workflow.nodes.map(({ parameters }) => parameters));
  const names = [...text.matchAll(HEADER)].map(([, dotted, quoted]) =>
    (dotted ?? quoted ?? '').toLowerCase(),
  );
  return [...new Set(names)]
    .filter(
      (name) =>
        !['cookie', 'parameters', 'values', 'map', 'parameter'].includes(name) &&
        /^[a-z0-9-]{1,128}$/.test(name),
    )
    .slice(0, 32);
}

function reviewStatus(context: NodeContext): void {
  const { parameters } = context;
  const status = numberOf(
    memberOf(parameters, 'options.responseCode.values.responseCode') ??
      memberOf(parameters, 'options.responseCode'),
  );
  if (
    status !== undefined &&
    status !== 200 &&
    textOf(parameters['responseMode'], 'onReceived') === 'onReceived'
  )
    context.note('review', `callers get the status 200, not ${status}: add a response node`);
}

export function convertWebhook(context: NodeContext): Draft {
  const { id, parameters } = context;
  // What answers the caller is decided where the workflow ends.
  void [
    parameters['responseMode'],
    parameters['responseData'],
    memberOf(parameters, 'options.responsePropertyName'),
  ];
  reviewStatus(context);
  const raw = textOf(parameters['path']).replace(/^[=/]+/, '');
  const path =
    raw
      .replaceAll(/[^A-Za-z0-9._~-]+/g, '-')
      .replaceAll(/^[-.]+|[-.]+$/g, '')
      .slice(0, 128) || id;
  noteUrl(context, path);
  if (/:[A-Za-z]/.test(raw)) context.note('review', 'a path has no parameters: send them in the body');
  const method = textOf(listOf(parameters['httpMethod'])[0] ?? parameters['httpMethod'], 'GET');
  if (method !== 'POST') context.note('review', `callers send POST requests with a JSON body, not ${method}`);
  const text = JSON.stringify(context.workflow.nodes.map(({ parameters }) => parameters));
  if (
    /\.query\b(?!P)|\bquery\./.test(text) &&
    method === 'POST' &&
    /\$json\.query\.|\.json\.query\./.test(text)
  )
    context.note('review', 'the query of the URL is not passed on: send it in the body');
  if (
    memberOf(parameters, 'options.binaryPropertyName') !== undefined ||
    memberOf(parameters, 'options.binaryData') === true
  )
    context.note('review', 'bodies with files are refused: send JSON');
  const headers = headersOf(context);
  return draftOf(context, {
    trigger: {
      webhook: {
        path,
        ...(webhookAuth(context) && { auth: webhookAuth(context) }),
        ...(headers.length > 0 && { headers }),
      },
    },
    list: `[{ headers: nodes.${id}.headers ?? {}, params: {}, query: {}, body: nodes.${id}.data_content }]`,
    fields: [
      [['body'], '.data_content'],
      ...headers.map((name): Field => [['headers', name], `.headers['${name}']`]),
    ],
  });
}

/** Triggers of services that call a URL which they must be given. */
export function convertServiceWebhook(context: NodeContext): Draft {
  const { id, node } = context;
  context.note(
    'review',
    `${shortType(node.type).replace(/Trigger$/, '')} must be given the URL of the webhook (status.url), which n8n does itself; verify its calls with auth`,
  );
  return draftOf(context, {
    trigger: {
      webhook: {
        path: shortType(node.type)
          .replace(/Trigger$/, '')
          .toLowerCase()
          .slice(0, 60),
        auth: { none: {} },
      },
    },
    list: `[{ ...nodes.${id}.data_content, body: nodes.${id}.data_content }]`,
    fields: [
      [['body'], '.data_content'],
      [[], '.data_content'],
    ],
  });
}

export function convertForm(context: NodeContext): Draft {
  const { id } = context;
  context.note('review', 'there is no page with a form: send its fields as a JSON object to the webhook');
  noteUrl(context, 'form');
  return draftOf(context, {
    trigger: { webhook: { path: 'form', auth: { none: {} } } },
    list: `[nodes.${id}.data_content]`,
    fields: [[[], '.data_content']],
  });
}

export function convertChat(context: NodeContext): Draft {
  const { id, parameters } = context;
  if (parameters['public'] === true)
    context.note(
      'review',
      'the page asks for a token: set access to Public, with a daily budget, to let anybody write',
    );
  const welcome = textOf(parameters['initialMessages']).replace(/^=/, '').slice(0, 2000);
  void memberOf(parameters, 'options.responseMode');
  const title = textOf(memberOf(parameters, 'options.title')).replace(/^=/, '').slice(0, 100);
  return draftOf(context, {
    trigger: {
      chat: {
        ...(title !== '' && { title }),
        ...(welcome !== '' && { welcome }),
        tokenRefs: [{ name: context.credential(['chat']), key: 'token' }],
      },
    },
    list: `[{ sessionId: nodes.${id}.data_content.session, action: 'sendMessage', chatInput: nodes.${id}.text_content }]`,
    fields: [
      [['chatInput'], '.text_content'],
      [['sessionId'], '.data_content.session'],
    ],
  });
}
