/** Live events as text for people: a line for each change of a node, and the text of models as it comes. */
import type { WorkflowRun } from '../../api/kinds.ts';
import type { NodeStatus } from '../../api/nodeStatus.ts';
import type { RunEvent } from '../../runs/types/event.ts';
import { colourOf } from '../shared/phaseMarks.ts';
import type { Terminal } from '../shared/terminal.ts';
import { indented, printable } from '../shared/text.ts';
import { nodeLine } from './show.ts';

type Paint = Terminal['paint'];

/** Gives for each event what to write; a text that is not ended stays on its line. */
export function createEventWriter(paint: Paint): { write: (event: RunEvent) => string; end: () => string } {
  let speaker: string | undefined;
  const end = (): string => {
    const line = speaker === undefined ? '' : '\n';
    speaker = undefined;
    return line;
  };
  const spoken = ({ node, text, reset }: Extract<RunEvent, { type: 'text' }>): string => {
    const isContinued = speaker === node && reset !== true;
    const before = isContinued ? '' : `${end()}${paint('cyan', `${node}> `)}`;
    speaker = node;
    return before + printable(text);
  };
  return {
    end,
    write: (event) => {
      if (event.type === 'text') return spoken(event);
      const lines = linesOf(event, paint);
      return lines.length === 0 ? '' : `${end()}${lines.join('\n')}\n`;
    },
  };
}

function linesOf(event: Exclude<RunEvent, { type: 'text' }>, paint: Paint): string[] {
  const time = paint('dim', clockOf(event.at));
  switch (event.type) {
    case 'run':
      return [`${time} run ${paint(colourOf(event.phase), event.phase)}${whyOf(event)}`];
    case 'node': {
      const line = nodeLine({ ...event, id: event.node }, paint, 'stdout');
      return [`${time} ${line ?? `${paint('dim', '·')} ${event.node}: ${event.phase}`}`];
    }
    case 'items': {
      const { succeeded, failed, total } = event.items;
      return [`${time} ${event.node}: ${succeeded + failed} of ${total} items ended, ${failed} failed`];
    }
    case 'transcript':
      return entryLines(event.node, event.entry, paint).map((line) => `${time} ${line}`);
  }
}

type Entry = NonNullable<NodeStatus['transcript']>['entries'][number];

/** The answer of the model was text events before. */
function entryLines(node: string, { role, tool, text, error }: Entry, paint: Paint): string[] {
  if (role !== 'Tool') return [];
  const [first = ''] = printable(text).split('\n');
  const mark = error === true ? paint('red', '✗') : '→';
  return [`${node}: ${mark} ${tool ?? 'tool'}: ${first.slice(0, 120)}`];
}

/** The same from the record of a run: what happened, in the order of time. */
export function recordText({ status = {}, metadata }: WorkflowRun, paint: Paint): string[] {
  const nodes = (status.nodes ?? []).toSorted((one, other) => startOf(one).localeCompare(startOf(other)));
  const phase = status.phase ?? 'Pending';
  const at = status.completionTime ?? status.startTime ?? metadata.creationTimestamp ?? '';
  return [
    ...nodes.flatMap((node) => recordedNode(node, paint)),
    `${paint('dim', clockOf(Date.parse(at)))} run ${paint(colourOf(phase), phase)}${whyOf(status)}`,
  ];
}

const startOf = ({ startTime, completionTime }: NodeStatus): string => startTime ?? completionTime ?? '~';

function recordedNode(node: NodeStatus, paint: Paint): string[] {
  const at = Date.parse(node.completionTime ?? node.startTime ?? '');
  const entries = node.transcript?.entries ?? [];
  const line = nodeLine(node, paint, 'stdout') ?? `${paint('dim', '·')} ${node.id}: ${node.phase}`;
  return [
    ...entries.flatMap((entry) => transcriptLines(node.id, entry, paint)),
    `${paint('dim', clockOf(at))} ${line}`,
    ...(node.log === undefined ? [] : indented(node.log)),
  ];
}

function transcriptLines(node: string, entry: Entry, paint: Paint): string[] {
  const time = paint('dim', clockOf(Date.parse(entry.completionTime ?? entry.startTime ?? '')));
  if (entry.role === 'Assistant' && entry.text !== '')
    return [`${time} ${paint('cyan', `${node}> `)}${printable(entry.text)}`];
  return entryLines(node, entry, paint).map((line) => `${time} ${line}`);
}

/** The time of day in UTC. */
function clockOf(at: number): string {
  return Number.isFinite(at) ? new Date(at).toISOString().slice(11, 23) : ' '.repeat(12);
}

function whyOf({ reason, message }: { reason?: string; message?: string }): string {
  const why = [reason, message].filter((text) => text !== undefined && text !== '').join(': ');
  return why === '' ? '' : `: ${printable(why)}`;
}
