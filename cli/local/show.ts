/** How a local run is shown to people: a line when a node ends, then what each node produced. Pure. */
import { foundText } from '../../api/expression/found.ts';
import type { RunEvent } from '../../runs/types/event.ts';
import type { NodeState } from '../../runs/types/node.ts';
import type { RunState } from '../../runs/types/run.ts';
import type { Terminal } from '../shared/terminal.ts';
import { indented, outputLines, indentedJson } from '../shared/text.ts';
import { MARKS } from '../shared/phaseMarks.ts';

type Paint = Terminal['paint'];

/**
 * The line of a live event; undefined for an event that says nothing new to people. `undone`: steps that are
 * not executed, because effects are not allowed.
 */
export function eventLine(event: RunEvent, undone: ReadonlySet<string>, paint: Paint): string | undefined {
  if (event.type !== 'node') return undefined;
  if (event.phase === 'Succeeded' && undone.has(event.node))
    return `${paint('yellow', '–', 'stderr')} ${event.node}: not done`;
  const [mark, colour] = MARKS[event.phase] ?? [];
  if (mark === undefined || colour === undefined) return undefined;
  const why = [event.reason, event.message].filter((text) => text !== undefined).join(': ');
  return `${paint(colour, mark, 'stderr')} ${event.node}${why === '' ? '' : `: ${why}`}`;
}

/** What each node produced or would have sent, then how the run ended. */
export function runLines(state: RunState, undone: ReadonlySet<string>, paint: Paint): string[] {
  const nodes = state.nodes.filter(({ outputIsInput }) => !outputIsInput);
  return [
    ...nodes.flatMap((node) => nodeLines(node, undone.has(node.id), paint)),
    ...(state.reply ? [paint('bold', `reply ${state.reply.status}`), ...indented(state.reply.body)] : []),
    paint('bold', `run ${state.phase}`) + (state.message === undefined ? '' : `: ${state.message}`),
  ];
}

function nodeLines(
  { id, output, mocked, missing, items }: NodeState,
  isUndone: boolean,
  paint: Paint,
): string[] {
  const title = paint('bold', id);
  if (isUndone && mocked)
    return [
      `${title} ${paint('yellow', 'not done')}, would have sent${items ? ` for one of ${items.total} items` : ''}`,
      ...indented(indentedJson(mocked.parameters)),
    ];
  const found = missing && foundText(missing);
  if (found !== undefined) return [title, ...indented(found)];
  return output ? [title, ...outputLines(output)] : [];
}
