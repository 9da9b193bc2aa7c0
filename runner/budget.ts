/**
 * Enforces the budgets that apply to a run: reserves what each request of its agents to a model may use, and
 * settles it. A reservation is stored before its request is sent, a settlement in the background and before
 * the run ends.
 */
import type { BudgetLimit } from '../api/budget.ts';
import { ANNOTATION } from '../api/group.ts';
import { amountText } from '../api/money.ts';
import { costOf, highestCost, NO_PRICES, ratesOf, type PriceTable, type Rates } from '../api/price.ts';
import { StepError } from '../api/reasons.ts';
import type { Log } from '../kube/log.ts';
import type { StepBudget, ModelDemand } from '../nodes/contract/budget.ts';
import type { ModelUsage } from '../nodes/contract/modelUsage.ts';
import { reserve, settle, type BudgetScope, type Demand, type Reserved, type Used } from '../runs/budget.ts';
import type { ClaimRef } from '../runs/types/claim.ts';
import type { RunStoreConnection, Unavailable } from '../store/connection.ts';
import type { RunnerMetrics } from './metrics.ts';
import { retryUntilStored } from './retryUntilStored.ts';

type BudgetDeps = {
  conn: RunStoreConnection;
  prices?: PriceTable | undefined;
  metrics: RunnerMetrics;
  log: Log;
  /** Aborted when the process ends. */
  abandon: AbortSignal;
};

/** The budgets of the agents of a run in flight. */
export class RunBudget {
  readonly #deps: BudgetDeps;
  readonly #ref: () => ClaimRef;
  readonly #epoch: number;
  readonly #regain: () => Promise<boolean>;
  readonly #open = new Set<Promise<unknown>>();
  #requests = 0;

  /**
   * `ref`: the current claim. `epoch`: of the claim, which tells the deliveries of a request apart. `regain`:
   * takes the run back from a run store that has lost the claim, and returns whether it is executed here.
   */
  constructor(
    deps: BudgetDeps,
    { ref, epoch, regain }: { ref: () => ClaimRef; epoch: number; regain: () => Promise<boolean> },
  ) {
    this.#deps = deps;
    this.#ref = ref;
    this.#epoch = epoch;
    this.#regain = regain;
  }

  /**
   * The budget of the step with this located key, within those of run, day and project. `limit`: its own one.
   * `onUse` is called with what the provider counted of each request.
   */
  ofStep(
    step: string,
    limit: BudgetLimit | undefined,
    onUse: (usage: ModelUsage) => void = () => undefined,
  ): StepBudget {
    const { prices = NO_PRICES } = this.#deps;
    return {
      reserve: async (demand) => {
        const rates = ratesOf(prices, demand.provider, demand.model);
        const id = `${demand.effectKey}#${this.#epoch}.${(this.#requests += 1)}`;
        const asked = reservedDemand(demand, { id, step, limit, rates, currency: prices.currency });
        const outcome = await this.#reserve(asked);
        if (outcome?.outcome === 'reserved') {
          const settleReservation = (usage: ModelUsage | null): ModelUsage | null => {
            const counted = this.#settle(id, demand, rates, usage);
            if (counted) onUse(counted);
            return counted;
          };
          return { isLimited: outcome.isLimited, settle: settleReservation };
        }
        if (outcome && 'scope' in outcome) this.#deps.metrics.models.refusals.inc({ budget: outcome.scope });
        throw refusalOf(outcome, demand, asked);
      },
    };
  }

  /** Whether all settlements are stored. */
  get isSettled(): boolean {
    return this.#open.size === 0;
  }

  /** Resolves when all settlements are stored. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#open);
  }

  /** Undefined: the process ends. */
  async #reserve(asked: Demand): Promise<Exclude<Reserved, Unavailable> | undefined> {
    const { conn, abandon } = this.#deps;
    const ask = () => retryUntilStored(() => reserve(conn, this.#ref(), asked), abandon);
    const outcome = await ask();
    return outcome?.outcome === 'fenced' && (await this.#regain()) ? ask() : outcome;
  }

  #settle(
    id: string,
    { model }: ModelDemand,
    rates: Rates | undefined,
    usage: ModelUsage | null,
  ): ModelUsage | null {
    const { conn, prices = NO_PRICES, metrics, log, abandon } = this.#deps;
    const nano = usage && rates ? costOf(rates, usage) : undefined;
    const used: Used = usage
      ? { tokens: usage.inputTokens + usage.outputTokens, cost: nano ?? 0 }
      : undefined;
    const counted =
      usage && nano !== undefined ? { ...usage, cost: { nano, currency: prices.currency } } : usage;
    if (counted) metrics.models.note(model, counted);
    // Until it is stored the reservation stays charged.
    const stored = retryUntilStored(() => settle(conn, this.#ref(), id, used), abandon);
    this.#open.add(stored);
    void stored
      .catch((error: unknown) => log.error({ run: this.#ref().run, err: error }, 'storing usage failed'))
      .finally(() => this.#open.delete(stored));
    return counted;
  }
}

type Asked = {
  id: string;
  step: string;
  limit: BudgetLimit | undefined;
  rates: Rates | undefined;
  currency: string;
};

function reservedDemand(
  { inputTokens, outputTokens }: ModelDemand,
  { id, step, limit, rates, currency }: Asked,
): Demand {
  return {
    id,
    step,
    tokens: inputTokens + outputTokens,
    currency,
    ...(rates && { cost: highestCost(rates, { inputTokens, outputTokens }), rates: ratesText(rates) }),
    ...(limit && { limit }),
  };
}

function ratesText({ input, cachedInput, cacheWrite, output }: Rates): string {
  return [input, cachedInput, cacheWrite, output].join(',');
}

const WHOSE: Record<BudgetScope, string> = {
  step: 'the budget of the step (agent.budget)',
  run: 'the budget of the run (spec.budget.run)',
  day: "the workflow's budget of today (spec.budget.day)",
  project: "the project's budget of today",
};

const REMEDIES: Record<BudgetScope, string> = {
  step: 'Raise agent.budget, lower maxTokens, or ask for less at once',
  run: 'Raise spec.budget.run, lower maxTokens, or ask for less at once',
  day: 'Raise spec.budget.day, or run it again after midnight UTC',
  project: 'Ask the platform team to raise it, or run it again after midnight UTC',
};

function refusalOf(
  outcome: Exclude<Reserved, { outcome: 'reserved' }> | undefined,
  { model, provider }: ModelDemand,
  { tokens, cost = 0, currency }: Demand,
): StepError {
  if (outcome?.outcome === 'price-unknown') {
    const message = `${WHOSE[outcome.scope]} limits the cost, and the price table of the installation has no price of ${model} for credentials of kind ${provider}. The model was not asked. Ask the platform team to add it (chart value prices.models), or limit tokens instead`;
    return new StepError('PriceUnknown', message);
  }
  if (outcome?.outcome !== 'exceeded')
    return new StepError('Cancelled', 'the run is no longer executed here');
  const { scope, what, limit, used } = outcome;
  const shown = (amount: number): string =>
    what === 'tokens' ? `${amount} tokens` : `${amountText(amount)} ${currency}`;
  const needed = what === 'tokens' ? tokens : cost;
  const annotation = what === 'tokens' ? ANNOTATION.budgetTokens : ANNOTATION.budgetCost;
  const where = scope === 'project' ? ` (annotation ${annotation} of the namespace)` : '';
  const message = `${WHOSE[scope]}${where} is ${shown(limit)}, of which ${shown(used)} are used or reserved, and the next request to ${model} may use ${shown(needed)}. The model was not asked. ${REMEDIES[scope]}`;
  return new StepError('BudgetExceeded', message);
}
