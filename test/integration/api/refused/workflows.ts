/**
 * Workflows that the API server refuses, with the words that say what to do; and the nodes that they are made
 * of.
 */

export const trigger = { id: 'trigger', webhook: { path: 'orders' } };
export const step = (id: string) => ({ id, response: { body: 'ok' } });
export const call = (id: string) => ({
  id,
  skill: { name: 'http_request', parameters: { url: 'https://api.example.com' } },
});
const steps = [step('a'), step('b')];
export const workflow = (...edges: [from: string, to: string][]) => ({
  nodes: [trigger, ...steps],
  edges: edges.map(([from, to]) => ({ from, to })),
});

export const failing = {
  id: 'stop',
  fail: { reason: 'OutOfStock', message: "{{ $('trigger').data_content.sku }} is sold out" },
};

const auth = {
  bearer: { secretRefs: [{ name: 'a', key: 'b' }] },
  github: { secretRefs: [{ name: 'a', key: 'b' }] },
};

const waiting = (wait: object, options: object = {}) => ({
  nodes: [trigger, { id: 'pause', wait, ...options }],
});

const withTool = (tool: object) => ({
  nodes: [trigger, { id: 'ask', agent: { credential: 'llm', model: 'm', prompt: 'p', tools: [tool] } }],
});

const group = (id: string, within?: string) => ({ id, group: {}, ...(within !== undefined && { within }) });
const inGroup = (id: string, within: string) => ({ ...call(id), within });
const forEach = { items: "{{ $('trigger').data_content }}" };
const repeat = { until: 'true', limit: 3 };

const chat = (fields: object) => ({ nodes: [{ id: 'trigger', chat: fields }, step('a')] });
const tokenRefs = [{ name: 'chat', key: 'token' }];

export const REFUSED_WORKFLOWS: [sentence: string, spec: unknown, says: RegExp][] = [
  [
    'a webhook that passes cookies on',
    { nodes: [{ id: 'trigger', webhook: { path: 'orders', headers: ['X-Event', 'Cookie'] } }] },
    /headers cannot admit Cookie/,
  ],
  ['a chat with neither tokens nor public access', chat({}), /access Token needs tokenRefs/],
  ['a public chat without a daily budget', chat({ access: 'Public' }), /needs a daily budget/],
  ['a public chat with tokens', chat({ access: 'Public', tokenRefs }), /tokenRefs have no effect/],
  [
    'a chat in a site that is a policy',
    chat({ tokenRefs, embedIn: ["https://a.example; script-src 'unsafe-inline'"] }),
    /embedIn\[0\]/,
  ],
  ['a chat in a path of a site', chat({ tokenRefs, embedIn: ['https://a.example/shop'] }), /embedIn\[0\]/],
  [
    'a disabled trigger',
    { nodes: [{ ...trigger, disabled: true }, call('a')] },
    /node trigger is a trigger and cannot have disabled: set active of the workflow to false/,
  ],
  [
    'a body of a group that does not exist',
    { nodes: [trigger, inGroup('a', 'none')] },
    /node a: within names none, and no node has this ID: add the group, or correct the ID/,
  ],
  [
    'a body of a node that is no group',
    { nodes: [trigger, call('b'), inGroup('a', 'b')] },
    /node a: within names b, which is not a group: name a node with group/,
  ],
  [
    'a group behind its body',
    { nodes: [trigger, inGroup('a', 'g'), group('g')] },
    /node a: within names g, which is later in the list: move the group before its body/,
  ],
  [
    'a group within itself',
    { nodes: [trigger, group('g', 'g'), inGroup('a', 'g')] },
    /node g: within names g itself: name another group, or remove within/,
  ],
  [
    'groups that are nested too deeply',
    {
      nodes: [
        trigger,
        group('g1'),
        group('g2', 'g1'),
        group('g3', 'g2'),
        group('g4', 'g3'),
        inGroup('a', 'g4'),
      ],
    },
    /node a is in more than 3 groups: nest groups at most 3 levels deep/,
  ],
  [
    'an edge across the border of a group',
    {
      nodes: [trigger, group('g'), inGroup('a', 'g'), call('b')],
      edges: [
        { from: 'trigger', to: 'g' },
        { from: 'a', to: 'b' },
      ],
    },
    /edge a to b connects nodes of different groups: .* Connect the group itself/,
  ],
  [
    'forEach and repeat on one node',
    { nodes: [trigger, { ...call('a'), forEach, repeat }] },
    /node a cannot have both forEach and repeat: put the node with repeat into a group/,
  ],
  [
    'a response for each item',
    { nodes: [trigger, { ...step('a'), forEach }] },
    /response node a cannot have forEach or repeat: a run has one reply/,
  ],
  [
    'a repeat without an end',
    { nodes: [trigger, { ...call('a'), repeat: { until: 'false' } }] },
    /repeat\.limit: Required value/,
  ],
  [
    'a repeat of more executions than a run may have',
    { nodes: [trigger, { ...call('a'), repeat: { until: 'false', limit: 10_001 } }] },
    /repeat\.limit.*less than or equal to 10000/,
  ],
  [
    'more items at a time than may run',
    { nodes: [trigger, { ...call('a'), forEach: { ...forEach, maxParallel: 101 } }] },
    /forEach\.maxParallel.*less than or equal to 100/,
  ],
  [
    'an effect on a group',
    { nodes: [trigger, { ...group('g'), effect: 'AtMostOnce' }, inGroup('a', 'g')] },
    /effect has no effect on the group g: set it on the nodes of the body/,
  ],
  ['a wait of -1 s', waiting({ duration: '-1s' }), /must be a duration from 0s to 90d|should match/],
  ['a wait of 91 days', waiting({ duration: '91d' }), /must be a duration from 0s to 90d/],
  ['a wait for nothing', waiting({}), /a wait must have exactly one of/],
  [
    'a wait for two things',
    waiting({ duration: '1s', until: '2026-05-01T08:00:00Z' }),
    /a wait must have exactly one of/,
  ],
  [
    'a wait with a timeout',
    waiting({ duration: '1h' }, { timeout: '10s' }),
    /timeout, retry and effect have no effect on the wait node pause: remove them/,
  ],
  ['no trigger', { nodes: steps }, /a workflow needs a trigger: add a node with one of manual, schedule/],
  [
    'two triggers',
    { nodes: [trigger, { id: 'other', manual: {} }] },
    /exactly one trigger, and this one has more: create one workflow for each/,
  ],
  [
    'an edge to nowhere',
    workflow(['trigger', 'c']),
    /edge trigger to c names a node that does not exist, c: /,
  ],
  [
    'an edge from nowhere',
    workflow(['trigger', 'a'], ['c', 'a']),
    /edge c to a names a node that does not exist, c: /,
  ],
  ['an edge into the trigger', workflow(['a', 'trigger']), /edge a to trigger leads into the trigger/],
  ['a backward edge', workflow(['trigger', 'a'], ['b', 'a']), /edge b to a points backward/],
  ['an edge onto itself', workflow(['a', 'a']), /edge a to a points backward/],
  [
    'the same edge twice',
    workflow(['trigger', 'a'], ['trigger', 'a']),
    /edge trigger to a is duplicated: combine the conditions/,
  ],
  [
    'a node with two kinds',
    { nodes: [trigger, { ...step('a'), skill: { name: 'send_email' } }] },
    /node a must have exactly one kind/,
  ],
  ['a node without a kind', { nodes: [trigger, { id: 'a' }] }, /node a must have exactly one kind/],
  [
    'the same id twice',
    { nodes: [trigger, step('a'), step('a')] },
    /node IDs must be unique: two nodes have the ID a/,
  ],
  [
    'an id that no reference can name',
    { nodes: [trigger, step('1-a')] },
    /a node ID must begin with a letter/,
  ],
  [
    'a chain that does not begin with the trigger',
    { nodes: [step('a'), trigger] },
    /the trigger must be the first node/,
  ],
  [
    'a cron expression without its five fields',
    { nodes: [{ id: 't', schedule: { cron: '@hourly' } }] },
    /cron must have five fields/,
  ],
  [
    'a cron minute that does not exist',
    { nodes: [{ id: 't', schedule: { cron: '60 * * * *' } }] },
    /cron must have five fields/,
  ],
  [
    'a weekday that a CronJob refuses',
    { nodes: [{ id: 't', schedule: { cron: '*/5 * * * 7' } }] },
    /cron must have five fields/,
  ],
  [
    'a poll of an account each four seconds',
    { nodes: [{ id: 't', mail: { credential: 'a', pollIntervalSeconds: 4 } }] },
    /pollIntervalSeconds.*greater than or equal to 5/,
  ],
  [
    'a path of two segments',
    { nodes: [{ id: 't', webhook: { path: 'a/b' } }] },
    /path must be one URL segment/,
  ],
  [
    'two ways to prove who calls',
    { nodes: [{ id: 't', webhook: { path: 'a', auth } }] },
    /auth must have exactly one of/,
  ],
  [
    'a trigger with the options of a step',
    { nodes: [{ ...trigger, timeout: '5s' }] },
    /node trigger is a trigger and cannot have timeout/,
  ],
  [
    'a response behind a schedule',
    { nodes: [{ id: 't', schedule: { cron: '0 9 * * *' } }, call('a'), step('b')] },
    /spec\.nodes: .*node b: a response node needs a caller, and this trigger has none/,
  ],
  [
    'a response behind a bot',
    { nodes: [{ id: 't', bot: { credential: 'bot' } }, step('a')] },
    /node a: a response node needs a caller, .* send_message to answer a chat/,
  ],
  [
    'a reply that nobody makes',
    { nodes: [{ id: 't', webhook: { path: 'a', replyTimeout: '1m' } }, call('a')] },
    /replyTimeout has no effect without a response node/,
  ],
  [
    'retries of a response',
    { nodes: [trigger, { ...step('a'), retry: { limit: 3 } }] },
    /timeout, retry and effect have no effect on node a: a response node and the skill set call no other system/,
  ],
  [
    'a timeout of the skill set',
    { nodes: [trigger, { id: 'a', skill: { name: 'set' }, timeout: '5s' }] },
    /have no effect on node a/,
  ],
  [
    'retries of code',
    { nodes: [trigger, { id: 'a', code: { source: 'return 1;' }, retry: { limit: 3 } }] },
    /node a cannot have timeout, retry or effect: code calls no other system/,
  ],
  [
    'code that may take two minutes',
    { nodes: [trigger, { id: 'a', code: { source: 'return 1;', timeout: '2m' } }] },
    /must be a duration from 10ms to 60s/,
  ],
  [
    'code with a gigabyte of memory',
    { nodes: [trigger, { id: 'a', code: { source: 'return 1;', memoryMiB: 1024 } }] },
    /memoryMiB: Invalid value: 1024: .* should be less than or equal to 128/,
  ],
  ['code without a source', { nodes: [trigger, { id: 'a', code: {} }] }, /code\.source: Required value/],
  [
    'a fail node with onError',
    { nodes: [trigger, { ...failing, onError: 'Continue' }] },
    /have no effect on node stop: a fail node ends the run\. Remove them/,
  ],
  [
    'a fail node with a sentence as reason',
    { nodes: [trigger, { ...failing, fail: { reason: 'sold out', message: 'x' } }] },
    /reason.* should match/,
  ],
  [
    'a policy beyond no limit',
    { ...workflow(['trigger', 'a'], ['a', 'b']), concurrency: { policy: 'Reject' } },
    /policy has no effect without limit/,
  ],
  [
    'a size of attachments whose content is not asked for',
    { nodes: [{ id: 't', mail: { credential: 'imap', maxAttachmentBytes: 1000 } }] },
    /maxAttachmentBytes has no effect unless attachments is Content/,
  ],
  [
    'a tool that is a skill and a workflow',
    withTool({ skill: 'http_request', workflow: 'refund' }),
    /a tool must have exactly one of skill and workflow/,
  ],
  [
    'a tool that is nothing',
    withTool({ name: 'refund' }),
    /a tool must have exactly one of skill and workflow/,
  ],
  [
    'a tool with a workflow and a credential',
    withTool({ workflow: 'refund', credential: 'shop' }),
    /a tool with workflow cannot have credential, modelMaySet or effect/,
  ],
  [
    'an unknown field',
    { nodes: [{ id: 't', webhook: { path: 'a', pathe: 'b' } }] },
    /unknown field "spec\.nodes\[0\]\.webhook\.pathe"/,
  ],
];

const retrying = (backoff: unknown) => ({ nodes: [trigger, { ...call('a'), retry: { limit: 1, backoff } }] });
const verified = (scheme: string, more: unknown) => {
  const secretRefs = [{ name: 'a', key: 'b' }];
  const auth = { [scheme]: { secretRefs, ...(more as object) } };
  return { nodes: [{ id: 't', webhook: { path: 'a', auth } }] };
};

export const REFUSED_DURATIONS: [field: string, spec: unknown, says: RegExp][] = [
  [
    'replyTimeout: 10m',
    { nodes: [{ id: 't', webhook: { path: 'a', replyTimeout: '10m' } }, step('a')] },
    /spec\.nodes\[0\]\.webhook\.replyTimeout: .*must be a duration from 1s to 5m, .*such as 30s, 5m or 1h30m/,
  ],
  [
    'replyTimeout: 300001ms',
    { nodes: [{ id: 't', webhook: { path: 'a', replyTimeout: '300001ms' } }, step('a')] },
    /replyTimeout: .*must be a duration from 1s to 5m/,
  ],
  [
    'tolerance: 30d of standardWebhooks',
    verified('standardWebhooks', { tolerance: '30d' }),
    /standardWebhooks\.tolerance: .*from 1s to 1d/,
  ],
  [
    'tolerance: 0s of hmac',
    verified('hmac', { header: 'X-S', timestampHeader: 'X-T', tolerance: '0s' }),
    /hmac\.tolerance: .*from 1s to 1d/,
  ],
  [
    'timeout: 0s of a step',
    { nodes: [trigger, { ...call('a'), timeout: '0s' }] },
    /timeout: .*from 1ms to 24d/,
  ],
  ['timeout: 30d of a step', { nodes: [trigger, { ...call('a'), timeout: '30d' }] }, /from 1ms to 24d/],
  [
    'timeout: 60 of a step',
    { nodes: [trigger, { ...call('a'), timeout: '60' }] },
    /must be a duration from 1ms/,
  ],
  [
    'timeout: 0s of a run',
    { ...workflow(['trigger', 'a']), timeout: '0s' },
    /spec\.timeout: .*from 1s to 365d/,
  ],
  ['timeout: PT1H of a run', { ...workflow(['trigger', 'a']), timeout: 'PT1H' }, /such as 30s, 5m or 1h30m/],
  ['retry.backoff.max: 25d', retrying({ max: '25d' }), /backoff\.max: .*from 0s to 24d/],
  [
    'retry.backoff.initial: 99999999999999999999999d',
    retrying({ initial: '99999999999999999999999d', max: '1h' }),
    /backoff\.initial: .*from 0s to 24d/,
  ],
  [
    'retry.backoff.initial: 5m without max',
    retrying({ initial: '5m' }),
    /backoff: .*initial must not be longer than max \(default 60s\): set max too/,
  ],
  [
    'history.ttl: 11y in days',
    { ...workflow(['trigger', 'a']), history: { ttl: '4015d' } },
    /history\.ttl: .*from 0s to 3650d/,
  ],
  [
    'history.dataTTL: 30d with ttl: 7d',
    { ...workflow(['trigger', 'a']), history: { ttl: '7d', dataTTL: '30d' } },
    /history: .*dataTTL must not be longer than ttl: data is deleted with its run/,
  ],
];
