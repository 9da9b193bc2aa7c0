/**
 * Finds runs that were executed again after they had ended, and steps that were executed again after they
 * had. Pure.
 */
import { isTerminal } from '../../api/phase.ts';
import type { Violation } from './violation.ts';
import type { Effect } from './effects.ts';
import type { ClockSlip, EndedRun, Evidence, NodeSighting, RunHistory } from './evidence.ts';

/** The clocks of the run store and of the sinks are those of one machine, read a moment apart. */
const SLACK_MS = 250;

/** All of them: by effects, and by what records showed of nodes. */
export function checkExecutions(evidence: Evidence): Violation[] {
  const ended = new Map(evidence.ended.map((run) => [run.run, run]));
  const ofRuns = Map.groupBy(evidence.effects, ({ run }) => run);
  return [...ofRuns]
    .flatMap(([run, effects]): Violation[] => {
      const end = run === undefined ? undefined : ended.get(run);
      if (run === undefined) return [];
      return [...(end ? afterEnd(end, effects, evidence.slips) : []), ...outOfOrder(run, effects, evidence)];
    })
    .concat(evidence.histories.flatMap(endedNodes));
}

function afterEnd(run: EndedRun, effects: readonly Effect[], slips: Evidence['slips']): Violation[] {
  const end = Math.max(...wallTimes(run.endedAt, slips));
  return effects
    .filter(({ at }) => at > end + SLACK_MS)
    .map(({ kind, event, node = '?', at }) => ({
      kind: 'effect-after-end' as const,
      event,
      run: run.run,
      message: `${kind} of node ${node} of ${run.run} came ${at - end} ms after the run had ended`,
    }));
}

/**
 * A step begins when those before it have ended: an effect of one of these that comes later is a repetition
 * of a step that had ended.
 */
function outOfOrder(run: string, effects: readonly Effect[], { orders = [] }: Evidence): Violation[] {
  const sorted = effects.toSorted((a, b) => a.at - b.at);
  return orders.flatMap(([first, second]) => {
    const begun = sorted.find(({ node }) => node === second);
    const late = sorted.findLast(({ node }) => node === first);
    if (!begun || !late || late.at <= begun.at + SLACK_MS) return [];
    const message = `node ${first} of ${run} had an effect ${late.at - begun.at} ms after node ${second}, which begins when it has ended`;
    return [{ kind: 'node-ended-twice' as const, event: late.event, run, message }];
  });
}

/** Nodes that a record showed at their end, and then otherwise. */
function endedNodes({ run, event, nodes = [] }: RunHistory): Violation[] {
  return [...Map.groupBy(nodes, ({ node }) => node)].flatMap(([node, seen]) => {
    const first = seen.findIndex(({ phase }) => isTerminal(phase) || NODE_ENDS.has(phase));
    const later = first === -1 ? undefined : seen[first + 1];
    if (!later) return [];
    const message = `node ${node} of ${run} was ${tell(seen[first])}, then ${tell(later)}`;
    return [{ kind: 'node-ended-twice' as const, run, ...(event !== '' && { event }), message }];
  });
}

const NODE_ENDS = new Set(['Skipped', 'Unknown']);

function tell({ phase = '', attempts = 1, endedAt }: Partial<NodeSighting> = {}): string {
  return `${phase} (attempt ${attempts}${endedAt === undefined ? '' : `, ended ${endedAt}`})`;
}

/**
 * What a time of the run store may be by the wall clock: more than one where its clock was wrong for a while.
 */
export function wallTimes(time: number, slips: readonly ClockSlip[] = []): number[] {
  const corrected = slips
    .map(({ from, until, ms }) => ({ from, until, real: time - ms }))
    .filter(({ from, until, real }) => real >= from - SLACK_MS && real <= until + SLACK_MS)
    .map(({ real }) => real);
  return [time, ...corrected];
}
