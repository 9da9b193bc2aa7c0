/** Specs with values of wrong types, as another program may store them or somebody may type them as YAML. */
export const WRONGLY_TYPED_SPECS: readonly (readonly [what: string, spec: object])[] = (() => {
  const trigger = { id: 'trigger', manual: {} };
  const beside = (...nodes: object[]) => ({ nodes: [trigger, ...nodes] });
  const step = (kind: object) => beside({ id: 'step', ...kind });
  const edge = (more: object) => ({
    ...step({ skill: { name: 'set', parameters: {} } }),
    edges: [{ from: 'trigger', to: 'step', ...more }],
  });
  const skill = { name: 'set', parameters: {} };
  return [
    ['a name that is an object', { nodes: [{ ...trigger, displayName: {} }] }],
    ['a name that is a number', { nodes: [{ ...trigger, displayName: 5 }] }],
    ['an ID that is a number', beside({ id: 7, skill })],
    ['a trigger that is null', { nodes: [{ id: 'trigger', manual: null }] }],
    ['a trigger that is text', { nodes: [{ id: 'trigger', webhook: 'x' }] }],
    ['a chat that is a number', { nodes: [{ id: 'trigger', chat: 7 }] }],
    ['a schedule that is a list', { nodes: [{ id: 'trigger', schedule: [null] }] }],
    ['callers that are text', { nodes: [{ id: 'trigger', webhook: { path: 7, auth: 'x', headers: 'x' } }] }],
    ['a skill that is null', step({ skill: null })],
    ['a skill that is a number', step({ skill: 5 })],
    ['a skill without a name', step({ skill: {} })],
    ['a skill whose name is an object', step({ skill: { name: {} } })],
    ['a skill with the name of an inherited member', step({ skill: { name: 'constructor' } })],
    ['a skill whose parameters are null', step({ skill: { name: 'http_request', parameters: null } })],
    ['values that are a list', step({ skill: { name: 'set', parameters: { values: [1, null] } } })],
    [
      'a URL that is an object',
      step({ skill: { name: 'http_request', parameters: { url: {}, headers: 'x' } } }),
    ],
    ['an agent that is text', step({ agent: 'x' })],
    ['a prompt that is a list', step({ agent: { credential: {}, model: [], prompt: [null] } })],
    ['tools that are null', step({ agent: { tools: null } })],
    ['tools of null', step({ agent: { tools: [null, 'x', { name: {}, parameters: 'x' }] } })],
    ['a memory that is text', step({ agent: { memory: 'x', fallback: 'x', outputSchema: 'x' } })],
    ['code that is a number', step({ code: 5 })],
    ['a source that is an object', step({ code: { source: {} } })],
    ['a wait that is a number', step({ wait: 7 })],
    ['a callback that is text', step({ wait: { callback: 'x', duration: {} } })],
    ['a response that is text', step({ response: 'x' })],
    ['headers of a response that are a list', step({ response: { headers: [], body: {}, status: 'x' } })],
    ['a failure without words', step({ fail: { reason: {}, message: null } })],
    ['a workflow that is a list', step({ workflow: [] })],
    [
      'options of wrong types',
      step({ skill, retry: 'x', timeout: {}, onError: 7, effect: {}, disabled: 'yes' }),
    ],
    ['a loop that is text', step({ group: {}, forEach: 'x' })],
    ['items that are a number', step({ skill, forEach: { items: 7, maxParallel: 'x' } })],
    ['a repetition that is null', step({ skill, repeat: null })],
    ['a group that is a number', step({ group: 7, within: 5 })],
    ['a group in itself', step({ group: {}, within: 'step' })],
    ['edges that are null', { ...step({ skill }), edges: null }],
    ['a condition that is an object', edge({ when: {} })],
    ['a condition that is null', edge({ when: null })],
    ['a result that is a number', edge({ after: 5 })],
    ['an edge to itself', { ...step({ skill }), edges: [{ from: 'step', to: 'step' }] }],
    [
      'settings of wrong types',
      { ...step({ skill }), displayName: 5, description: [], budget: 'x', timeout: {} },
    ],
    [
      'members of settings of wrong types',
      {
        ...step({ skill }),
        history: { ttl: ['1h'], dataTTL: ['2h'], succeeded: {}, failed: 1e300 },
        concurrency: { limit: 'x', policy: [] },
        budget: { run: { tokens: {}, cost: 5 }, day: [null] },
        onFailure: { workflow: '' },
        constructor: { a: 1 },
      },
    ],
    ['further settings of wrong types', { ...step({ skill }), onFailure: 7, concurrency: null, history: 1 }],
  ];
})();
