/** A virtual list of runs: only visible rows are rendered, so that thousands scroll smoothly. */
import { Badge, Text, Tooltip } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, useRef, type MouseEvent, type ReactNode } from 'react';
import { shortPersonName } from '../../api/person.ts';
import { isTerminal } from '../../api/phase.ts';
import { durationOf } from './live/result.ts';
import { useNow } from '../ui/useNow.ts';
import { triggerLabel } from '../workflows/triggers.ts';
import { ago, formatDuration, fullTime, shortTime } from '../ui/format.ts';
import { errorOf, type ListedRun } from './filters.ts';
import { presentNamesQuery } from './presentNames.ts';
import { failureParts, failureText } from './live/failureText.ts';
import { PhaseIcon } from './phases.tsx';
import { shortRun } from './shortRun.ts';
import classes from './RunsList.module.css';

type Props = {
  project: string;
  runs: ListedRun[];
  /** False: all runs are of one workflow. */
  showsWorkflow?: boolean;
  /** The display names of workflows. */
  titles?: ReadonlyMap<string, string> | undefined;
  /** Whether runs open on their page or on the canvas of their workflow. */
  opensOn?: 'page' | 'canvas';
  /** The content after the last row, such as a button to load more. */
  footer?: ReactNode;
};

/** The heights of a row: in columns, or in lines below each other, of which the last one is the error. */
const ROW = { columns: 36, lines: 58, withError: 78 };
const NARROW = '(max-width: 800px)';
const EVERY_MS = 1_000;
const BASE = '/console';

export function RunsList({ project, runs, showsWorkflow = true, titles, opensOn = 'page', footer }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const router = useRouter();
  const now = useNow(true, EVERY_MS);
  const isNarrow = useMediaQuery(NARROW, false, { getInitialValueInEffect: false });
  const heightOf = (run: ListedRun | undefined): number => {
    if (!isNarrow) return ROW.columns;
    return run === undefined || errorOf(run) === '' ? ROW.lines : ROW.withError;
  };
  const { getVirtualItems, getTotalSize } = useVirtualizer({
    count: runs.length,
    getScrollElement: () => box.current,
    estimateSize: (index) => heightOf(runs[index]),
    overscan: 8,
    useFlushSync: false,
    // A new function each time makes the virtualizer measure again: heights follow the runs and the width.
    getItemKey: (index) => runs[index]?.run ?? index,
  });
  const follow = (event: MouseEvent): void => {
    const link = linkAt(event);
    if (link === null || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    router.history.push(link.pathname + link.search);
  };
  const columns = [
    'Status',
    'Run',
    ...(showsWorkflow ? ['Workflow'] : []),
    'Trigger',
    'Received',
    'Duration',
    'Error',
  ];
  return (
    <div
      ref={box}
      role="table"
      aria-label="Runs"
      aria-rowcount={runs.length + 1}
      tabIndex={0}
      className={classes['list'] ?? ''}
      data-wide={showsWorkflow || undefined}
      onClick={follow}
    >
      <div role="row" aria-rowindex={1} className={`${classes['row'] ?? ''} ${classes['head'] ?? ''}`}>
        {columns.map((column) => (
          <span role="columnheader" key={column} data-column={column}>
            {column}
          </span>
        ))}
      </div>
      <div role="rowgroup" style={{ height: getTotalSize(), position: 'relative', flex: 'none' }}>
        {getVirtualItems().map(({ index, start, size, key }) => {
          const run = runs[index];
          return (
            run && (
              <div
                key={key}
                role="row"
                aria-rowindex={index + 2}
                className={`${classes['row'] ?? ''} ${classes['line'] ?? ''}`}
                style={{ transform: `translateY(${start}px)`, height: size }}
              >
                <Cells
                  project={project}
                  run={run}
                  now={now}
                  title={showsWorkflow ? (titles?.get(run.workflow) ?? run.workflow) : undefined}
                  opensOn={opensOn}
                />
              </div>
            )
          );
        })}
      </div>
      {footer}
    </div>
  );
}

/**
 * The link that was clicked, or the run of the row, unless text in it was selected. Object names need no
 * escaping. Plain links, because thousands of router links slow down scrolling.
 */
function linkAt({ target }: MouseEvent): HTMLAnchorElement | null {
  const element = target as Element;
  const link = element.closest('a');
  if (link !== null || getSelection()?.isCollapsed === false) return link;
  return element.closest('[role="row"]')?.querySelector<HTMLAnchorElement>('[data-column="Run"] a') ?? null;
}

type CellsProps = {
  project: string;
  run: ListedRun;
  now: number;
  /** The name of its workflow; undefined: all runs are of one. */
  title: string | undefined;
  opensOn: 'page' | 'canvas';
};

/** Redrawn only when the run changes or a second has passed, not on scroll. */
const Cells = memo(function Cells({ project, run, now, title, opensOn }: CellsProps) {
  const { workflow, phase, trigger, at } = run;
  const took = isTerminal(phase) && run.completionTime === undefined ? undefined : durationOf(run, now);
  const short = shortRun(run.run, workflow);
  return (
    <>
      <span role="cell" data-column="Status">
        <PhaseIcon phase={phase} hasFailures={run.hasFailures} />
        {phase}
      </span>
      <span role="cell" data-column="Run">
        <a href={runAddress(project, run, opensOn)} className={classes['link'] ?? ''} title={run.run}>
          <span aria-hidden data-cut={short !== run.run || undefined}>
            {short}
          </span>
          <span className={classes['whole'] ?? ''}>{run.run}</span>
        </a>
        <Marks run={run} />
      </span>
      {title !== undefined && (
        <span role="cell" data-column="Workflow">
          <a
            href={`${BASE}/p/${project}/workflows/${workflow}`}
            className={classes['link'] ?? ''}
            title={title === workflow ? workflow : `${title} (${workflow})`}
          >
            <span>{title}</span>
          </a>
        </span>
      )}
      <span
        role="cell"
        data-column="Trigger"
        title={run.requestedBy === undefined ? undefined : startText(trigger, run.requestedBy)}
      >
        {startText(trigger, run.requestedBy && shortPersonName(run.requestedBy, project))}
      </span>
      <span role="cell" data-column="Received" title={at === 0 ? undefined : fullTime(at)}>
        {at !== 0 && <Received at={at} now={now} isOneWorkflow={title === undefined} />}
      </span>
      <span role="cell" data-column="Duration">
        {took === undefined ? '' : formatDuration(took)}
      </span>
      <RunError project={project} run={run} />
    </>
  );
});

type ReceivedProps = { at: number; now: number; isOneWorkflow: boolean };

/** On a narrow screen the time, too, in a list of one workflow: there it is what differs. */
function Received({ at, now, isOneWorkflow }: ReceivedProps) {
  return (
    <>
      {isOneWorkflow && <span className={classes['time']}>{shortTime(at)} · </span>}
      {ago(at, now)}
    </>
  );
}

type ErrorProps = { project: string; run: ListedRun };

/** Runs of *Help me build* have no place: the workflow does not have the node that they name. */
function RunError({ project, run }: ErrorProps) {
  const { workflow, message = '', isBuild = false } = run;
  const { cause, places } = failureParts(message);
  if (places.length > 0 && !isBuild)
    return <PlacedError project={project} workflow={workflow} message={message} />;
  const why = errorOf(run);
  return <ErrorCell title={why}>{cause || why}</ErrorCell>;
}

function ErrorCell({ title, children }: { title: string; children: ReactNode }) {
  return (
    <span role="cell" data-column="Error" title={title}>
      {children}
    </span>
  );
}

type PlacedProps = { project: string; workflow: string; message: string };

/** What failed, then where, which is cut off first. Nodes have their display names. */
function PlacedError({ project, workflow, message }: PlacedProps) {
  const { data: names } = useQuery(presentNamesQuery(project, workflow));
  const { cause, places } = failureParts(message, names);
  return (
    <ErrorCell title={failureText(message, names)}>
      {cause}
      <span className={classes['place']}> · {places.join(' › ')}</span>
    </ErrorCell>
  );
}

/** What started a run, and who: "Manual, by ada". A run that was refused has no trigger. */
function startText(trigger: string, by: string | undefined): string {
  const started = trigger === '' && by !== undefined ? 'execute' : trigger;
  return [triggerLabel(started), by && `by ${by}`].filter(Boolean).join(', ');
}

/** Summaries have no nodes to show on the canvas. */
function runAddress(project: string, { run, workflow, isSummary }: ListedRun, opensOn: 'page' | 'canvas') {
  return opensOn === 'canvas' && !isSummary
    ? `${BASE}/p/${project}/workflows/${workflow}?run=${run}`
    : `${BASE}/p/${project}/runs/${run}?workflow=${workflow}`;
}

function Marks({ run }: { run: ListedRun }) {
  return (
    <>
      {run.test && (
        <Badge size="xs" variant="default" tt="none" style={{ flex: 'none' }}>
          {run.isBuild === true ? 'Help me build' : 'Test'}
        </Badge>
      )}
      {run.retryOf !== undefined && (
        <Tooltip label={`Retry of ${run.retryOf}`}>
          <Badge size="xs" variant="default" tt="none" style={{ flex: 'none' }}>
            Retry
          </Badge>
        </Tooltip>
      )}
      {run.isSummary && (
        <Tooltip
          multiline
          maw={320}
          label="The record was deleted, or was not written because too many runs succeeded at the same time. Inputs and outputs are not available."
        >
          <Badge size="xs" variant="default" tt="none" style={{ flex: 'none' }}>
            Summary
          </Badge>
        </Tooltip>
      )}
    </>
  );
}

/** The note below a list that is incomplete. */
export function ListNote({ children }: { children: ReactNode }) {
  return (
    <Text size="xs" c="dimmed" ta="center" py={8} component="div">
      {children}
    </Text>
  );
}
