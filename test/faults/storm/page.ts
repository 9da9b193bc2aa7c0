/** The part of a report's page that is about a storm: each fault with its figures, scene by scene. */
import type { Report, ReportedFault } from '../report.ts';

/** Lines of Markdown; none where the run was no storm. */
export function stormLines({ faults, storm }: Report): string[] {
  if (!storm) return [];
  const scenes = [...Map.groupBy(faults, ({ number }) => number)];
  return [
    '',
    `At least ${storm.leastSentPerSecond ?? 0} events were sent in every second, whatever was away; a scene began when at least ` +
      `${storm.leastLoadBefore} were accepted a second. "Came": new events while the fault lasted. Answers of that time, also to repetitions: ` +
      'accepted, refused, none. "Again": seconds from its beginning until an event that was sent after it was accepted. "Pause": the longest time ' +
      'without a 2xx that touches it. "Drained": seconds from its beginning until nothing waited any more that had come before its end.',
    '',
    '| scene | fault | s | load before, per s | came | accepted | refused | no answer | again | pause | drained |',
    '| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |',
    ...scenes.flatMap(([number, each]) => each.map((fault) => rowOf(fault, number))),
    '',
    ...scenes.map(([number, [first]]) => `${number}. ${first?.scene ?? ''}`),
    ...takenLines(storm),
  ];
}

function rowOf({ kind, target, at, endedAt, loadBefore, figures, ...rest }: ReportedFault, scene: number) {
  const cells = [
    scene,
    target === '' ? kind : `${kind} (${target})`,
    ((endedAt - at) / 1_000).toFixed(1),
    Math.floor(loadBefore),
    figures.came,
    figures.accepted,
    figures.refused,
    figures.unanswered,
    rest.firstAcceptedSeconds?.toFixed(1) ?? 'never',
    figures.longestPauseSeconds.toFixed(1),
    rest.backlogEndedSeconds?.toFixed(1) ?? 'never',
  ];
  return `| ${cells.join(' | ')} |`;
}

function takenLines({ losses, taken, leftOut }: NonNullable<Report['storm']>): string[] {
  const told =
    Object.entries(taken)
      .map(([kind, count]) => `${kind}: ${count}`)
      .join(', ') || 'nothing';
  const counts = losses.map(({ runs }) => runs).join(', ');
  return [
    ...(losses.length === 0
      ? []
      : [
          '',
          `The run store lost its data ${losses.length} times, with ${counts} runs in it. What that took: ${told}.`,
        ]),
    ...(leftOut ? ['', 'Slow fsync and wrong clocks were left out: this machine has no C compiler.'] : []),
  ];
}
