/** The metrics of requests to models. The label `model` has a bounded number of values. */
import { Counter, type Registry } from 'prom-client';
import type { ModelUsage } from '../nodes/contract/modelUsage.ts';
import type { BudgetScope } from '../runs/budget.ts';

/** So many models have a label of their own; all further ones share `_other`. */
const MOST_MODELS = 50;
const OTHER = '_other';
const LONGEST_LABEL = 64;
const NANO = 1e9;

export type ModelMetrics = {
  /** Counts what the provider counted of a request. */
  note(model: string, usage: ModelUsage): void;
  /** Requests that a budget refused. */
  refusals: Counter<'budget'>;
};

export function createModelMetrics(registers: Registry[]): ModelMetrics {
  const names = new Set<string>();
  const tokens = new Counter({
    name: 'windlass_model_tokens_total',
    help: 'Tokens that providers of models counted, by model and kind: input (without the cache), cached_input, cache_write, output.',
    labelNames: ['model', 'kind'],
    registers,
  });
  const cost = new Counter({
    name: 'windlass_model_cost_total',
    help: 'What these tokens cost, by model and currency, as far as the price table has the models.',
    labelNames: ['model', 'currency'],
    registers,
  });
  const refusals = new Counter({
    name: 'windlass_budget_refusals_total',
    help: 'Requests to models that were not sent, by the budget that did not admit them: step, run, day, project.',
    labelNames: ['budget'],
    registers,
  });
  const labelOf = (model: string): string => {
    const name = model.slice(0, LONGEST_LABEL);
    if (names.size < MOST_MODELS) names.add(name);
    return names.has(name) ? name : OTHER;
  };
  return {
    refusals: refusals satisfies Counter<keyof { budget: BudgetScope }>,
    note: (name, usage) => {
      const model = labelOf(name);
      const { inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteTokens = 0 } = usage;
      tokens.inc({ model, kind: 'input' }, Math.max(0, inputTokens - cachedInputTokens - cacheWriteTokens));
      tokens.inc({ model, kind: 'cached_input' }, cachedInputTokens);
      tokens.inc({ model, kind: 'cache_write' }, cacheWriteTokens);
      tokens.inc({ model, kind: 'output' }, outputTokens);
      if (usage.cost) cost.inc({ model, currency: usage.cost.currency }, usage.cost.nano / NANO);
    },
  };
}
