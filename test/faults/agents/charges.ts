/** Whether what agents were charged keeps within their budgets, and has all that reached the model. Pure. */
import type { Violation } from '../violation.ts';
import { messageRuns, type SceneEvidence, type Tell } from './seen.ts';
import { MOST_OUTPUT, USED } from './workflows.ts';

export function checkCharges(evidence: SceneEvidence, tell: Tell): Violation[] {
  const { scene, charges, requests } = evidence;
  const { limits } = scene;
  const found: Violation[] = [];
  if (charges.mostDay > limits.day)
    found.push(tell('above-budget', `${charges.mostDay} of ${limits.day} tokens of the day were charged`));
  if (charges.mostRun > limits.run)
    found.push(tell('above-budget', `${charges.mostRun} of ${limits.run} tokens of a run were charged`));
  const least = leastOf(requests);
  if (charges.day < least)
    found.push(tell('not-charged', `${charges.day} tokens of the day, and the model used ${least}`));
  for (const { run, tokens } of messageRuns(evidence)) {
    const own = leastOf(requests.filter(({ key }) => key.split('/')[1] === run));
    if (tokens < own) found.push(tell('not-charged', `run ${run} has ${tokens}, and the model used ${own}`));
  }
  return found;
}

/** What requests used at least: a request that got no answer stays charged as it was reserved. */
function leastOf(requests: SceneEvidence['requests']): number {
  return requests.reduce((sum, { isAnswered }) => sum + (isAnswered ? USED : MOST_OUTPUT), 0);
}
