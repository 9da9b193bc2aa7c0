/** What expressions can read: an order as the data of a trigger, an item, a run and variables. */
import {
  compileCondition,
  compileValueExpression,
  evaluateCondition,
  evaluateValue,
} from '../../../api/cel.ts';
import type { NodeOutput, Scope } from '../../../api/expression/scope.ts';

/** The data of the trigger. */
export const ORDER = JSON.parse(`{
  "count": 5, "price": 9.5, "index": 1, "name": "Ada", "vip": true, "note": null, "when": "2026-01-31T22:30:00Z",
  "items": [{"sku": "A-1", "qty": 2}, {"sku": "B-2", "qty": 0}], "list": [1, 2, 3], "tags": ["new", "eu"],
  "company": {"constructor": "Acme", "deep": [{"constructor": {"name": "x"}}]}, "any key": 1, "length": 7
}`) as unknown;

const OUTPUTS: Record<string, NodeOutput> = {
  trigger: { text_content: '', data_content: ORDER },
  agent: { text_content: 'yes', data_content: null, error: { message: 'refused' } },
  constructor: { text_content: 'a node may have this id', data_content: 1 },
};

const SCOPE: Scope = {
  node: (id) => (Object.hasOwn(OUTPUTS, id) ? OUTPUTS[id] : undefined),
  item: { qty: 2 },
  index: 3,
  previous: 'agent',
  run: {
    id: 'orders-1',
    workflow: 'orders',
    project: 'shop',
    accepted: '2026-01-31T22:30:00.000Z',
    localTime: '2026-01-31T22:30:00Z',
    timeZone: 'UTC',
    test: false,
  },
  vars: { url: 'https://example.com', 'limits.json': { max: 5 } },
};

/** `order` stands for the data of the trigger. */
const written = (source: string) => source.replaceAll('order', 'nodes.trigger.data_content');
/** Whether the condition holds in a step of a loop. */
export const holds = (source: string) =>
  evaluateCondition(compileCondition(written(source), { forEach: true }), SCOPE);
/** The value of the expression in a step of a loop. */
export const valueOf = (source: string, scope = SCOPE) =>
  evaluateValue(compileValueExpression(written(source), { forEach: true }), scope);
