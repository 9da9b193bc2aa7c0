/** The time up to which a run is shown. */
import { isTerminal } from '../../api/phase.ts';
import { useNow } from '../ui/useNow.ts';
import type { RunHead } from './live/nodeView.ts';

/**
 * Its end, or now, in milliseconds. Nodes that ended with the run have no end of their own. It is for the
 * smallest component that shows a duration, which is redrawn several times a second.
 */
export function useRunTime({ phase, completionTime }: Pick<RunHead, 'phase' | 'completionTime'>): number {
  const now = useNow(!isTerminal(phase));
  return completionTime === undefined ? now : Date.parse(completionTime);
}
