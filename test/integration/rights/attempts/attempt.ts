/** What mallory tries. */
import type { TwoProjects } from '../../../support/rights/twoProjects.ts';

/** `attempt` gives all that came back, refusals included; `refused` is what it says when it did not work. */
export type Attempt = {
  what: string;
  attempt: (projects: TwoProjects) => Promise<string>;
  refused: RegExp;
};
