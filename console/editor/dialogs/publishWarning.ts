/** What the dialog *Publish* says above the problems of a draft. Pure. */
import type { LiveProblem } from './liveProblems.ts';

type Version = {
  isActive: boolean;
  /** Events run an earlier version. */
  isServed: boolean;
};

/** The heading and the text above the problems, of which there is at least one. */
export function publishWarning(
  problems: readonly LiveProblem[],
  { isActive, isServed }: Version,
): { title: string; text: string } {
  if (problems.some(({ isRefused }) => isRefused))
    return {
      title: 'These changes cannot be published yet',
      text: 'Correct these problems first. Your draft is kept.',
    };
  // The operator serves a version whose credentials may be created later.
  if (problems.every(({ missing }) => missing !== undefined))
    return {
      title: 'Credentials are missing',
      text: 'You can publish it. Nodes that use these credentials fail until the credentials exist.',
    };
  if (!isActive)
    return {
      title: 'This version cannot run yet',
      text: 'You can publish it, and correct these problems before you activate it.',
    };
  const until = isServed ? 'new runs keep using the version that is live now' : 'events start no runs';
  return {
    title: 'This version will not be used yet',
    text: `If you publish it, ${until} until you correct these problems and publish again.`,
  };
}
