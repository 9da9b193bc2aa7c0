/** Budgets of agents that cannot work as they are written. Pure. */
import { withoutDisabled } from '../../../api/disabled.ts';
import {
  limitOfBudget,
  projectBudget,
  projectBudgetProblems,
  type BudgetLimit,
} from '../../../api/budget.ts';
import { hasPrice, type PriceTable } from '../../../api/price.ts';
import { isPublicChat } from '../../../api/started.ts';
import type { WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import { budgetOptionsProblem } from '../../../nodes/agent/options.ts';
import { DEFAULT_OUTPUT_TOKENS } from '../../../nodes/agent/reserve.ts';
import type { Check, Violation } from './check.ts';

/** Options that lift the limit of output, which a budget relies on. */
export const budgetsFit: Check = (spec) =>
  spec.nodes.flatMap(({ id, agent }): Violation[] => {
    const hasBudget = agent?.budget ?? spec.budget?.run ?? spec.budget?.day;
    const problem = hasBudget && budgetOptionsProblem(agent?.options);
    return problem === undefined
      ? []
      : [{ reason: 'InvalidParameters', message: `node ${id}: agent: ${problem}` }];
  });

type Facts = { prices: PriceTable; annotations?: Readonly<Record<string, string>> | undefined };

/** A sentence for each budget under which no request to a model is ever sent. */
export function budgetNotes(given: WorkflowSpec, { prices, annotations }: Facts): string[] {
  const spec = withoutDisabled(given);
  const hasAgent = spec.nodes.some(({ agent }) => agent);
  const ofProject = projectBudget(annotations);
  return [
    ...(hasAgent
      ? projectBudgetProblems(annotations).map(
          (problem) =>
            `Annotation of the namespace: ${problem}. Until it is corrected no agent of the project asks a model.`,
        )
      : []),
    // A public chat must have a budget, whatever it runs.
    ...(spec.budget && !hasAgent && !isPublicChat(spec)
      ? ['budget has no effect, because the workflow has no agent.']
      : []),
    ...spec.nodes.flatMap((node) => notesOf(node, limitsFor(node, spec, ofProject), prices)),
  ];
}

type NamedLimit = BudgetLimit & { name: string };

function limitsFor(
  { agent }: WorkflowNode,
  { budget: { run, day } = {} }: WorkflowSpec,
  project: BudgetLimit | undefined,
): NamedLimit[] {
  const named = { 'agent.budget': agent?.budget, 'budget.run': run, 'budget.day': day };
  const own = Object.entries(named).flatMap(([name, budget]) =>
    budget ? [{ name, ...limitOfBudget(budget) }] : [],
  );
  return [...own, ...(project ? [{ name: 'the budget of the project', ...project }] : [])];
}

function notesOf({ id, agent }: WorkflowNode, limits: readonly NamedLimit[], prices: PriceTable): string[] {
  if (!agent) return [];
  const { maxTokens = DEFAULT_OUTPUT_TOKENS, model, fallback = [] } = agent;
  const least = limits.find(({ tokens }) => tokens !== undefined && tokens <= maxTokens);
  const costly = limits.find(({ cost }) => cost !== undefined);
  const models = [model, ...fallback.map((each) => each.model)];
  const unknown = models.filter((name) => !name.includes('{{') && !hasPrice(prices, name));
  return [
    ...(least
      ? [
          `node ${id}: ${least.name} has ${least.tokens} tokens and an answer may take ${maxTokens} (maxTokens), so that no request is sent: lower maxTokens or raise the budget.`,
        ]
      : []),
    ...(costly && unknown.length > 0
      ? [
          `node ${id}: ${costly.name} limits the cost, and the installation has no price of ${[...new Set(unknown)].join(', ')}, so that it is not asked (PriceUnknown): add it to the chart value prices.models, or limit tokens instead.`,
        ]
      : []),
  ];
}
