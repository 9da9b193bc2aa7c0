/** The timeline of a run: its nodes as bars. One of them can be selected. */
import { Text, VisuallyHidden } from '@mantine/core';
import { IconHourglass } from '@tabler/icons-react';
import { hasFailedItems, itemsText, phaseText, type NodeView, type RunHead } from './live/nodeView.ts';
import { formatDuration } from '../ui/format.ts';
import { isTerminal } from '../../api/phase.ts';
import { phaseColor, PhaseIcon } from './phases.tsx';
import { useRunTime } from './useRunTime.ts';
import { NodeTitle } from './NodeTitle.tsx';
import type { NodeNames } from '../workflows/nodeNames.ts';
import { barsOf, spanOf, waitIn } from './waterfall.ts';
import classes from './Waterfall.module.css';

type Props = {
  run: RunHead;
  nodes: ReadonlyMap<string, NodeView>;
  order: readonly string[];
  names: NodeNames;
  /** In how many groups a node is. */
  depth: (id: string) => number;
  /** The run continues another one: attempts count those of that run too. */
  isResumed: boolean;
  chosen: string | undefined;
  onChoose: (id: string) => void;
};

const WHY_WAITING =
  'A run waits before its start while no runner is free or awake, the limit of concurrent runs is reached, or the workflow is suspended.';

export function Waterfall({ run, nodes, order, names, depth, isResumed, chosen, onChoose }: Props) {
  const now = useRunTime(run);
  const bars = barsOf(run, nodes, order, now);
  const { from, to } = spanOf(run, [...nodes.values()], now);
  const wait = waitIn(run, { from, to });
  return (
    <div className={classes['chart'] ?? ''} role="list" aria-label="Nodes of the run with their durations">
      <div className={classes['axis'] ?? ''} aria-hidden>
        <span />
        <span className={classes['scale'] ?? ''}>
          <span>0</span>
          <span>{formatDuration((to - from) / 2)}</span>
          <span>{formatDuration(to - from)}</span>
        </span>
      </div>
      {wait !== undefined && (
        <div role="listitem" className={classes['item'] ?? ''}>
          <div className={classes['wait'] ?? ''} title={WHY_WAITING}>
            <span className={classes['name'] ?? ''}>
              <IconHourglass size={15} aria-hidden />
              <Text span size="sm" truncate>
                {run.phase === 'Pending' ? 'Waiting to start' : 'Waited to start'}
              </Text>
              <VisuallyHidden>{WHY_WAITING}</VisuallyHidden>
            </span>
            <span className={classes['track'] ?? ''}>
              <span className={classes['bar'] ?? ''} style={{ left: 0, width: `${wait.width}%` }} />
            </span>
            <span className={classes['time'] ?? ''}>{formatDuration(wait.ms)}</span>
          </div>
        </div>
      )}
      {bars.map((bar) => (
        <div role="listitem" className={classes['item'] ?? ''} key={bar.node.id}>
          <button
            type="button"
            className={classes['row'] ?? ''}
            aria-pressed={bar.node.id === chosen}
            onClick={() => onChoose(bar.node.id)}
          >
            <span className={classes['name'] ?? ''} style={{ paddingInlineStart: 14 * depth(bar.node.id) }}>
              <PhaseIcon phase={bar.node.phase} size={15} hasFailures={hasFailedItems(bar.node)} />
              <Text span size="sm" truncate title={withId(bar.node.id, names)}>
                <NodeTitle id={bar.node.id} names={names} />
              </Text>
            </span>
            <span className={classes['track'] ?? ''}>
              {bar.left !== undefined && (
                <span
                  className={classes['bar'] ?? ''}
                  style={{
                    left: `${bar.left}%`,
                    width: `${bar.width}%`,
                    background: phaseColor({ phase: bar.node.phase, hasFailures: hasFailedItems(bar.node) }),
                  }}
                />
              )}
            </span>
            <span className={classes['time'] ?? ''}>
              {bar.node.items !== undefined && `${itemsText(bar.node.items)} · `}
              {bar.ms === undefined
                ? phaseText(bar.node.phase, isTerminal(run.phase))
                : formatDuration(bar.ms)}
              {(bar.node.attempts ?? 0) > 1 && !isResumed && ` · ${bar.node.attempts}×`}
            </span>
            {bar.ms !== undefined && <VisuallyHidden>, {bar.node.phase}</VisuallyHidden>}
          </button>
        </div>
      ))}
    </div>
  );
}

/** Whole, for a name that is cut. */
function withId(id: string, names: NodeNames): string {
  const name = names.get(id);
  return name === undefined ? id : `${name} (${id})`;
}
