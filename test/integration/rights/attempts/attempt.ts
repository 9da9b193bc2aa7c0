/** What mallory tries. */
import type { Tenants } from '../../../support/rights/tenants.ts';

/** `attempt` gives all that came back, refusals included; `refused` is what it says when it did not work. */
export type Attempt = {
  what: string;
  attempt: (tenants: Tenants) => Promise<string>;
  refused: RegExp;
};
