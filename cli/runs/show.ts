/** How recorded runs are shown to people. Pure. */
import { foundText } from '../../api/expression/found.ts';
import type { WorkflowRun } from '../../api/kinds.ts';
import type { NodeStatus } from '../../api/nodeStatus.ts';
import { colourOf, MARKS } from '../shared/phaseMarks.ts';
import { shortDuration, tableLines } from '../shared/table.ts';
import type { Terminal } from '../shared/terminal.ts';
import { indented, outputLines, printable } from '../shared/text.ts';

type Paint = Terminal['paint'];

const TITLES = ['NAME', 'WORKFLOW', 'PHASE', 'TRIGGER', 'TEST', 'DURATION', 'AGE'];

/** A table of runs, in their order. `now`: milliseconds since 1970. */
export function runTable(runs: readonly WorkflowRun[], now: number): string[] {
  return tableLines(
    TITLES,
    runs.map((run) => [
      run.metadata.name,
      run.spec.workflow,
      phaseOf(run),
      run.status?.trigger ?? run.spec.trigger?.type ?? '',
      run.spec.test === true ? 'test' : '',
      durationOf(run.status ?? {}, now),
      shortDuration(now - Date.parse(run.metadata.creationTimestamp ?? '')),
    ]),
  );
}

export const phaseOf = ({ status }: Pick<WorkflowRun, 'status'>): string => status?.phase ?? 'Pending';

type Times = { startTime?: string | undefined; completionTime?: string | undefined };

function durationOf({ startTime, completionTime }: Times, now: number): string {
  if (startTime === undefined) return '';
  return shortDuration(
    (completionTime === undefined ? now : Date.parse(completionTime)) - Date.parse(startTime),
  );
}

/** Everything that a person asks of one run: how it is, then what each node produced. */
export function runLines(run: WorkflowRun, paint: Paint, now: number): string[] {
  const { metadata, spec, status = {} } = run;
  const facts = [
    `workflow ${spec.workflow}`,
    ...(spec.test === true ? ['test run'] : []),
    ...(spec.retryOf === undefined
      ? []
      : [`${spec.resume === true ? 'resumes' : 'repeats'} ${spec.retryOf}`]),
    ...(spec.requestedBy === undefined ? [] : [`requested by ${printable(spec.requestedBy)}`]),
    ...(status.startTime === undefined ? [] : [`${tookWord(status)} ${durationOf(status, now)}`]),
  ];
  return [
    paint('dim', `run ${metadata.name}: ${facts.join(', ')}`),
    ...(status.nodes ?? []).flatMap((node) => nodeLines(node, paint)),
    ...endLine(run, paint),
  ];
}

const tookWord = ({ completionTime }: Times) => (completionTime === undefined ? 'for' : 'took');

/** How the run ended or is. */
export function endLine(run: WorkflowRun, paint: Paint): string[] {
  const why = whyOf(run.status ?? {});
  return [`run ${paint(colourOf(phaseOf(run)), phaseOf(run))}${why === '' ? '' : `: ${why}`}`];
}

function nodeLines(node: NodeStatus, paint: Paint): string[] {
  const line = nodeLine(node, paint, 'stdout');
  const found = node.missing && foundText(node.missing);
  const notes = [
    ...(found === undefined ? [] : [printable(found)]),
    ...(node.phase === 'Waiting' ? waitNotes(node) : []),
    ...(node.truncated === true ? ['the record has only the beginning of the output'] : []),
    ...(node.redacted === true ? ['the output was removed from the record'] : []),
  ];
  return [
    line ?? `${paint('dim', '·')} ${node.id}: ${node.phase}`,
    ...(node.output ? outputLines(node.output) : []),
    ...(node.log === undefined ? [] : ['  log:', ...indented(node.log)]),
    ...notes.map((note) => `  ${paint('dim', note)}`),
  ];
}

/** What a node that has not ended waits for, and until when. */
function waitNotes({ waitingFor = {}, nextAttemptTime, run }: NodeStatus): string[] {
  const { until, callback, memory } = waitingFor;
  if (callback) return [`waits for a callback until ${callback.until}`];
  if (memory) return [`waits until ${memory.until} for its memory, which another run uses`];
  if (until !== undefined) return [`waits until ${until}`];
  if (nextAttemptTime !== undefined) return [`the next attempt starts at ${nextAttemptTime}`];
  return run === undefined ? [] : [`waits for the run ${run}`];
}

type NodeLine = Pick<NodeStatus, 'id' | 'phase' | 'reason' | 'message'>;

/** One line about a node; undefined while it has done nothing that people need to know. */
export function nodeLine(node: NodeLine, paint: Paint, stream: 'stdout' | 'stderr'): string | undefined {
  const [mark, colour] = MARKS[node.phase] ?? [];
  if (mark === undefined || colour === undefined) return undefined;
  const why = whyOf(node);
  return `${paint(colour, mark, stream)} ${node.id}${why === '' ? '' : `: ${why}`}`;
}

function whyOf({ reason, message }: { reason?: string; message?: string }): string {
  return printable([reason, message].filter((text) => text !== undefined && text !== '').join(': '));
}
