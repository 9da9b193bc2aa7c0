/** Workflows in the documented format of n8n's exports, written by hand. */

type Outputs = { node: string; type: string; index: number }[][];

export type Exported = {
  id?: string;
  name: string;
  nodes: Record<string, unknown>[];
  connections: Record<string, Record<string, Outputs>>;
  settings?: Record<string, unknown>;
  pinData?: Record<string, unknown>;
};

/** A node. The prefix of the type is that of n8n's own nodes. */
export const node = (
  name: string,
  type: string,
  parameters: object = {},
  more: object = {},
): Record<string, unknown> => ({
  id: name,
  name,
  type: type.includes('.') ? type : `n8n-nodes-base.${type}`,
  typeVersion: 1,
  position: [0, 0],
  parameters,
  ...more,
});

type Link = [from: string, to: string, output?: number, input?: number, kind?: string];

/** A workflow with connections by the names of its nodes. */
export function exported(
  name: string,
  nodes: Record<string, unknown>[],
  links: readonly Link[],
  more: object = {},
): Exported {
  const connections = new Map<string, Map<string, Outputs>>();
  for (const [from, to, output = 0, input = 0, kind = 'main'] of links) {
    const kinds = connections.get(from) ?? new Map<string, Outputs>();
    const outputs = kinds.get(kind) ?? [];
    while (outputs.length <= output) outputs.push([]);
    outputs[output]?.push({ node: to, type: kind, index: input });
    connections.set(from, kinds.set(kind, outputs));
  }
  const entries = [...connections].map(([from, kinds]) => [from, Object.fromEntries(kinds)] as const);
  return { name, nodes, connections: Object.fromEntries(entries), ...more };
}

const AI = '@n8n/n8n-nodes-langchain';

/** A webhook, a Set, an IF with two branches, a request, a mail, and a response. */
export const order = exported(
  'Order',
  [
    node(
      'Webhook',
      'webhook',
      { httpMethod: 'POST', path: 'orders', responseMode: 'responseNode' },
      { typeVersion: 2 },
    ),
    node(
      'Fields',
      'set',
      {
        assignments: {
          assignments: [
            { name: 'total', type: 'number', value: '={{ $json.body.price * 2 }}' },
            { name: 'mail', type: 'string', value: '={{ $json.body.mail }}' },
          ],
        },
        options: {},
      },
      { typeVersion: 3.4 },
    ),
    node(
      'If',
      'if',
      {
        conditions: {
          options: {},
          combinator: 'and',
          conditions: [
            {
              leftValue: '={{ $json.total }}',
              rightValue: 10,
              operator: { type: 'number', operation: 'gt' },
            },
          ],
        },
      },
      { typeVersion: 2 },
    ),
    node(
      'Create',
      'httpRequest',
      {
        method: 'POST',
        url: 'https://api.example.com/orders',
        authentication: 'genericCredentialType',
        genericAuthType: 'httpHeaderAuth',
        sendBody: true,
        specifyBody: 'json',
        jsonBody: '={ "total": {{ $json.total }}, "note": "for {{ $json.mail }}" }',
      },
      { typeVersion: 4.2, credentials: { httpHeaderAuth: { id: '1', name: 'Shop' } } },
    ),
    node(
      'Mail',
      'emailSend',
      { toEmail: '={{ $json.mail }}', subject: 'Too small', text: 'Sorry', emailFormat: 'text' },
      { typeVersion: 2.1 },
    ),
    node(
      'Respond',
      'respondToWebhook',
      {
        respondWith: 'json',
        responseBody: '={ "mail": "{{ $(\'Fields\').item.json.mail }}" }',
        options: { responseCode: 201 },
      },
      { typeVersion: 1.1 },
    ),
  ],
  [
    ['Webhook', 'Fields'],
    ['Fields', 'If'],
    ['If', 'Create', 0],
    ['If', 'Mail', 1],
    ['Create', 'Respond'],
    ['Mail', 'Respond'],
  ],
);

/** A schedule that reads rows, splits, sorts and loops over them in batches. */
export const report = exported(
  'Nightly report',
  [
    node(
      'Schedule',
      'scheduleTrigger',
      { rule: { interval: [{ field: 'days', triggerAtHour: 6 }] } },
      { typeVersion: 1.2 },
    ),
    node(
      'Rows',
      'googleSheets',
      {
        documentId: { __rl: true, value: '1AbC', mode: 'id' },
        sheetName: { __rl: true, value: 'Orders', mode: 'name' },
      },
      { typeVersion: 4.5 },
    ),
    node('Sort', 'sort', { sortFieldsUi: { sortField: [{ fieldName: 'total', order: 'descending' }] } }),
    node('Loop', 'splitInBatches', { options: {} }, { typeVersion: 3 }),
    node(
      'Post',
      'telegram',
      {
        chatId: '12',
        text: '=Order {{ $json.number }} of {{ $now.toFormat("yyyy-MM-dd") }}',
        additionalFields: {},
      },
      { typeVersion: 1.2 },
    ),
    node(
      'Sum',
      'code',
      { jsCode: "return [{ json: { total: $input.all().length, first: $('Rows').first().json } }];" },
      { typeVersion: 2 },
    ),
  ],
  [
    ['Schedule', 'Rows'],
    ['Rows', 'Sort'],
    ['Sort', 'Loop'],
    ['Loop', 'Post', 1],
    ['Post', 'Loop'],
    ['Loop', 'Sum', 0],
  ],
  { settings: { timezone: 'Europe/Berlin', errorWorkflow: 'err1' } },
);

/** A chat with an agent that has a model, a memory, an output parser and two tools. */
export const support = exported(
  'Support',
  [
    node('Chat', `${AI}.chatTrigger`, { options: {} }),
    node(
      'Agent',
      `${AI}.agent`,
      { options: { systemMessage: 'You help.' }, hasOutputParser: true },
      { typeVersion: 1.7 },
    ),
    node('Model', `${AI}.lmChatOpenAi`, {
      model: { __rl: true, value: 'gpt-4o' },
      options: { temperature: 0.2 },
    }),
    node('Memory', `${AI}.memoryBufferWindow`, { contextWindowLength: 7 }),
    node('Parser', `${AI}.outputParserStructured`, { jsonSchemaExample: '{"answer": "text", "sure": true}' }),
    node('Find order', `${AI}.toolHttpRequest`, {
      toolDescription: 'Finds an order',
      url: 'https://api.example.com/orders/{number}',
      placeholderDefinitions: { values: [{ name: 'number', description: 'The number' }] },
    }),
    node('Send', 'telegramTool', { chatId: '5', text: "={{ $fromAI('text', 'What to say') }}" }),
  ],
  [
    ['Chat', 'Agent'],
    ['Model', 'Agent', 0, 0, 'ai_languageModel'],
    ['Memory', 'Agent', 0, 0, 'ai_memory'],
    ['Parser', 'Agent', 0, 0, 'ai_outputParser'],
    ['Find order', 'Agent', 0, 0, 'ai_tool'],
    ['Send', 'Agent', 0, 0, 'ai_tool'],
  ],
);

/** Two triggers that start the same nodes, one after a node of its own. */
export const shared = exported(
  'Two ways',
  [
    node('Each hour', 'cron', { triggerTimes: { item: [{ mode: 'everyHour', minute: 5 }] } }),
    node('Hook', 'webhook', { httpMethod: 'POST', path: 'go' }),
    node('Prepare', 'set', {
      keepOnlySet: true,
      values: { string: [{ name: 'id', value: '={{ $json["body"]["id"] }}' }] },
    }),
    node('Call', 'httpRequest', { url: '=https://api.example.com/{{$json["id"]}}', options: {} }),
    node('Done', 'noOp'),
  ],
  [
    ['Each hour', 'Call'],
    ['Hook', 'Prepare'],
    ['Prepare', 'Call'],
    ['Call', 'Done'],
  ],
);

/** Nodes without a counterpart, disabled or without connections, and a connection that leads back. */
export const odd = exported(
  'Odd',
  [
    node('Start', 'manualTrigger'),
    node('Unknown', 'kafka', { topic: 'orders', secretOption: { deep: ['kept'] } }),
    node('Off', 'httpRequest', { url: 'https://example.com' }, { disabled: true }),
    node('Wait', 'wait', { amount: 2, unit: 'minutes' }, { typeVersion: 1.1 }),
    node('Ready?', 'if', { conditions: { boolean: [{ value1: '={{ $json.ready }}', value2: true }] } }),
    node('Alone', 'set', {}),
    node('Note', 'stickyNote', { content: '## Read me' }),
  ],
  [
    ['Start', 'Unknown'],
    ['Unknown', 'Off'],
    ['Off', 'Wait'],
    ['Wait', 'Ready?'],
    ['Ready?', 'Wait', 1],
  ],
);

export const ALL: Record<string, Exported> = { order, report, support, shared, odd };
