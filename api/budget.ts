/** Budgets of agents: the fields of a workflow, the annotations of a namespace, and limits as integers. */
import * as z from 'zod';
import { ANNOTATION } from './group.ts';
import { AMOUNT_PATTERN, parseAmount } from './money.ts';
import { rules } from './value.ts';

const MOST_TOKENS = 1_000_000_000_000;

/** At most so many tokens and so much money. */
const budget = (description: string) =>
  z
    .object({
      tokens: z
        .int()
        .min(0)
        .max(MOST_TOKENS)
        .optional()
        .describe('The most tokens, input and output together.'),
      cost: z
        .string()
        .max(18)
        .regex(AMOUNT_PATTERN)
        .optional()
        .describe(
          'The most money, in the currency of the price table: a decimal text such as "0.50". A model without a price is then not asked (PriceUnknown).',
        ),
    })
    .meta({
      description,
      ...rules({
        rule: 'has(self.tokens) || has(self.cost)',
        message: 'a budget must have tokens, cost or both',
      }),
    });

/** The cost of tokens in a status. */
export const costFields = {
  cost: z
    .string()
    .max(24)
    .optional()
    .describe('What the tokens cost, as far as the price table has the models.'),
  currency: z.string().max(3).optional().describe('The currency of the cost.'),
};

/** The budget of an agent step. */
export const stepBudget = budget(
  'What one execution of the step may use, with all its retries. A request that could exceed it is not sent, and the node fails with the reason BudgetExceeded. An answer then has at most 4096 tokens, unless maxTokens says otherwise.',
);

/** The budgets of a workflow. */
export const workflowBudget = z
  .object({
    run: budget(
      'What all agents of one run may use together. Child runs have the budgets of their own workflow.',
    ).optional(),
    day: budget(
      'What all live runs of the workflow may use together in a day (UTC). All its test runs have the same budget once more.',
    ).optional(),
  })
  .describe(
    'What agents of the workflow may use. A request to a model that could exceed it is not sent, and the node fails with the reason BudgetExceeded. A change applies at once, also to runs in progress.',
  );

export type Budget = z.infer<typeof stepBudget>;

/** A limit of a budget. `cost` is nano-units. What is left out has no limit. */
export type BudgetLimit = { tokens?: number; cost?: number };

/** The limit of a budget of a workflow, which the CRD has checked. */
export function limitOfBudget({ tokens, cost }: Budget): BudgetLimit {
  const nano = cost === undefined ? undefined : parseAmount(cost);
  return { ...(tokens !== undefined && { tokens }), ...(nano !== undefined && { cost: nano }) };
}

type Annotations = Readonly<Record<string, string>>;

/**
 * The limit of a project and day that the annotations of its namespace set; undefined if they set none. A
 * value that is invalid allows nothing: a mistake must not lift a limit.
 */
export function projectBudget(annotations: Annotations = {}): BudgetLimit | undefined {
  const tokens = annotations[ANNOTATION.budgetTokens];
  const cost = annotations[ANNOTATION.budgetCost];
  if (tokens === undefined && cost === undefined) return undefined;
  return {
    ...(tokens !== undefined && { tokens: tokensOf(tokens) ?? 0 }),
    ...(cost !== undefined && { cost: parseAmount(cost) ?? 0 }),
  };
}

/** What is wrong with the annotations of a namespace. */
export function projectBudgetProblems(annotations: Annotations = {}): string[] {
  const { budgetTokens, budgetCost } = ANNOTATION;
  const isWrong = (name: string, parse: (text: string) => number | undefined): boolean =>
    annotations[name] !== undefined && parse(annotations[name]) === undefined;
  return [
    ...(isWrong(budgetTokens, tokensOf) ? [`${budgetTokens} must be a whole number of tokens`] : []),
    ...(isWrong(budgetCost, parseAmount) ? [`${budgetCost} must be a decimal text such as "10.00"`] : []),
  ];
}

function tokensOf(text: string): number | undefined {
  if (!/^[0-9]{1,13}$/.test(text)) return undefined;
  return Math.min(Number(text), MOST_TOKENS);
}
