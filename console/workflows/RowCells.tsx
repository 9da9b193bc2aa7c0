/**
 * Cells of the workflow table: the toggle, which is disabled if a tool manages it, and the bars of recent
 * runs. Plain elements that resemble those of the theme: each row has them.
 */
import { Text, Tooltip } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { sessionQuery, userNameOf } from '../session/session.ts';
import { notifyFailure } from '../ui/notify.tsx';
import { managerText } from './manager.ts';
import type { WorkflowItem } from './items.ts';
import { barsText, heights, RECENT_RUNS, type RunBar } from './recent.ts';
import { patchUnversioned } from './unversioned.ts';
import classes from './RowCells.module.css';

type Props = { item: WorkflowItem; project: string; mayChange: boolean };

export function ActiveSwitch({ item: { name, title, active, activeOwner }, project, mayChange }: Props) {
  const client = useQueryClient();
  const change = useMutation({
    mutationFn: (next: boolean) => {
      const by = userNameOf(client.getQueryData(sessionQuery.queryKey));
      return patchUnversioned({ namespace: project, name }, { active: next }, by);
    },
    onError: (error, next) => notifyFailure(`Could not ${next ? 'activate' : 'deactivate'} ${title}`, error),
  });
  if (!mayChange)
    return (
      <Text size="xs" c="dimmed">
        {active ? 'Yes' : 'No'}
      </Text>
    );
  const shown = change.isPending ? change.variables : active;
  const toggle = (
    <input
      type="checkbox"
      role="switch"
      className={classes['switch']}
      checked={shown}
      aria-label={`${title} is active`}
      aria-busy={change.isPending}
      {...(activeOwner !== undefined && { 'aria-disabled': true, readOnly: true })}
      onChange={(event) => {
        if (activeOwner === undefined && !change.isPending) change.mutate(event.currentTarget.checked);
      }}
    />
  );
  if (activeOwner === undefined) return toggle;
  return (
    <Tooltip
      label={`${managerText(activeOwner)} manages this. Change it in the source of ${activeOwner.tool}.`}
      events={{ hover: true, focus: true, touch: true }}
    >
      {toggle}
    </Tooltip>
  );
}

/** Recent runs as bars: up for success and down for failure, so that color is not the only difference. */
const WIDTH = 5;
const GAP = 2;
const HEIGHT = 26;
/** The baseline between successes and failures. */
const BASE = 16;
const LEAST = 3;

export function RunBars({ bars }: { bars: RunBar[] }) {
  const text = barsText(bars);
  if (bars.length === 0)
    return (
      <Text size="xs" c="dimmed">
        {text}
      </Text>
    );
  const levels = heights(bars);
  const width = RECENT_RUNS * (WIDTH + GAP);
  const first = RECENT_RUNS - bars.length;
  return (
    <svg width={width} height={HEIGHT} role="img" aria-label={text} className={classes['bars'] ?? ''}>
      <title>{text}</title>
      <line x1={0} x2={width} y1={BASE} y2={BASE} className={classes['base'] ?? ''} />
      {bars.map((bar, at) => (
        <Bar key={bar.run} bar={bar} level={levels[at] ?? 0} x={(first + at) * (WIDTH + GAP)} />
      ))}
    </svg>
  );
}

function Bar({ bar: { phase, hasFailures, test }, level, x }: { bar: RunBar; level: number; x: number }) {
  const isDown = phase === 'Failed' || phase === 'Cancelled';
  const room = (isDown ? HEIGHT - BASE : BASE) - 1;
  const height = LEAST + level * (room - LEAST);
  const y = isDown ? BASE + 1 : BASE - height;
  const kind = `${classes[hasFailures ? 'withFailures' : phase] ?? ''} ${test ? (classes['test'] ?? '') : ''}`;
  return test ? (
    <rect x={x + 0.5} y={y + 0.5} width={WIDTH - 1} height={height - 1} className={kind} />
  ) : (
    <rect x={x} y={y} width={WIDTH} height={height} className={kind} />
  );
}
