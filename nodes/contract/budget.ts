/** How an agent reserves what a request to a model may use, and settles it by what the provider counted. */
import type { ModelUsage } from './modelUsage.ts';

/** The most that a request uses, before it is sent. */
export type ModelDemand = {
  /** The effect key of the request. */
  effectKey: string;
  /** The kind of the credential. */
  provider: string;
  model: string;
  inputTokens: number;
  outputTokens: number;
};

type Reservation = {
  /** Whether a budget applies, so that the request must limit its output. */
  isLimited: boolean;
  /**
   * Settles it by what the provider counted, and returns that with its cost. Null: the provider counted
   * nothing, so that the reservation stays charged.
   */
  settle(usage: ModelUsage | null): ModelUsage | null;
};

/** Reserves what the requests of one step to models may use, within all budgets that apply to it. */
export type StepBudget = {
  /**
   * Waits while the run store is unavailable.
   * @throws StepError `BudgetExceeded` if a budget does not admit it; `PriceUnknown` if a budget limits the
   * cost and the model has no price
   */
  reserve(demand: ModelDemand): Promise<Reservation>;
};
