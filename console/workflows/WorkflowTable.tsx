/** The workflow table: sortable, with keyboard navigation, virtual if it is long. */
import { Table, UnstyledButton } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconGitBranch, IconPencil, IconTag } from '@tabler/icons-react';
import { useMediaQuery } from '@mantine/hooks';
import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, useRef, type KeyboardEvent, type ReactNode } from 'react';
import { TextLink } from '../ui/links.tsx';
import { count, number } from '../ui/format.ts';
import { ActiveSwitch, RunBars } from './RowCells.tsx';
import { Ago } from '../ui/Ago.tsx';
import { managerText } from './manager.ts';
import type { RunBar } from './recent.ts';
import { RowMenu, type Rights, type RowAction } from './RowMenu.tsx';
import { rateText, successRate, type Sort, type SortKey, type WorkflowItem } from './items.ts';
import { StateBadge } from './StateBadge.tsx';
import { TRIGGER_ICONS } from './triggerIcons.ts';
import { triggerInfo } from './triggers.ts';
import classes from './WorkflowTable.module.css';

type Props = {
  items: WorkflowItem[];
  project: string;
  rights: Rights;
  /** The names of those with unpublished changes. */
  drafted: ReadonlySet<string>;
  /** Undefined if the user may not list runs. */
  recent?: Map<string, RunBar[]>;
  sort: Sort;
  onSort: (key: SortKey) => void;
  onAction: (action: RowAction, item: WorkflowItem) => void;
};

/** Below this number all rows are rendered, so that the browser can search them. */
const VIRTUAL_FROM = 100;
const ROW_HEIGHT = 49;
const NO_RUNS: RunBar[] = [];
/** The header hides the column of the state below it, too (`xs`). */
const NARROW = '(max-width: 35.99em)';

export function WorkflowTable(props: Props) {
  const { items, project, rights, drafted, recent, sort, onSort, onAction } = props;
  const frame = useRef<HTMLDivElement>(null);
  const isVirtual = items.length > VIRTUAL_FROM;
  const virtualizer = useVirtualizer({
    count: items.length,
    enabled: isVirtual,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 12,
    useFlushSync: false,
  });
  const isNarrow = useMediaQuery(NARROW, false, { getInitialValueInEffect: false });
  const inSight = virtualizer.getVirtualItems();
  const first = isVirtual ? (inSight[0]?.index ?? 0) : 0;
  const end = isVirtual ? (inSight.at(-1)?.index ?? -1) + 1 : items.length;
  const above = isVirtual ? (inSight[0]?.start ?? 0) : 0;
  const below = isVirtual ? virtualizer.getTotalSize() - (inSight.at(-1)?.end ?? 0) : 0;
  return (
    <div ref={frame} className={classes['frame'] ?? ''}>
      <Table
        stickyHeader
        highlightOnHover
        layout="fixed"
        aria-rowcount={items.length + 1}
        className={classes['table'] ?? ''}
        onKeyDown={moveByArrows}
      >
        <Head sort={sort} onSort={onSort} hasBars={recent !== undefined} />
        <Table.Tbody>
          <Spacer height={above} />
          {items.slice(first, end).map((item, at) => (
            <WorkflowRow
              key={item.metadata.uid ?? item.name}
              item={item}
              position={first + at + 2}
              project={project}
              rights={rights}
              isNarrow={isNarrow}
              hasDraft={drafted.has(item.name)}
              {...(recent && { bars: recent.get(item.name) ?? NO_RUNS })}
              onAction={onAction}
            />
          ))}
          <Spacer height={below} />
        </Table.Tbody>
      </Table>
    </div>
  );
}

type HeadProps = Pick<Props, 'sort' | 'onSort'> & { hasBars: boolean };

/** Not redrawn on scroll. */
const Head = memo(function Head({ sort, onSort, hasBars }: HeadProps) {
  const head = (key: SortKey, label: string, title?: string) => (
    <SortButton
      label={label}
      title={title}
      isSorted={sort.key === key}
      descending={sort.descending}
      onSort={() => onSort(key)}
    />
  );
  const order = (key: SortKey) => (sort.key !== key ? 'none' : sort.descending ? 'descending' : 'ascending');
  return (
    <Table.Thead>
      <Table.Tr>
        <Table.Th aria-sort={order('title')}>{head('title', 'Name')}</Table.Th>
        <Table.Th w={190} aria-sort={order('state')} visibleFrom="xs">
          {head('state', 'Status')}
        </Table.Th>
        <Table.Th w={140} aria-sort={order('trigger')} visibleFrom="md">
          {head('trigger', 'Trigger')}
        </Table.Th>
        <Table.Th w={120} aria-sort={order('lastRun')} visibleFrom="sm">
          {head('lastRun', 'Last run')}
        </Table.Th>
        <Table.Th w={124} aria-sort={order('rate')} visibleFrom="md">
          {head(
            'rate',
            'Success rate',
            'Of all time, without test runs. The overview shows that of a day or week.',
          )}
        </Table.Th>
        {hasBars && (
          <Table.Th w={164} visibleFrom="lg">
            Recent runs
          </Table.Th>
        )}
        <Table.Th w={64}>Active</Table.Th>
        <Table.Th w={52}>
          <span className={classes['hidden'] ?? ''}>Actions</span>
        </Table.Th>
      </Table.Tr>
    </Table.Thead>
  );
});

type SortButtonProps = {
  label: string;
  title?: string | undefined;
  isSorted: boolean;
  descending: boolean;
  onSort: () => void;
};

function SortButton({ label, title, isSorted, descending, onSort }: SortButtonProps) {
  const Icon = descending ? IconArrowDown : IconArrowUp;
  return (
    <UnstyledButton onClick={onSort} title={title} className={classes['sort'] ?? ''}>
      {label}
      {isSorted && <Icon size={12} aria-hidden />}
    </UnstyledButton>
  );
}

function Spacer({ height }: { height: number }) {
  return height > 0 ? (
    <tr aria-hidden>
      <td colSpan={8} style={{ height, padding: 0 }} />
    </tr>
  ) : null;
}

type RowProps = Pick<Props, 'project' | 'rights' | 'onAction'> & {
  item: WorkflowItem;
  position: number;
  /** There is no room for the column of the state: it is below the name. */
  isNarrow: boolean;
  hasDraft: boolean;
  bars?: RunBar[];
};

/**
 * Visible rows are not redrawn on scroll. The elements are plain ones that resemble the theme: with its
 * components, a row takes half as long again.
 */
const WorkflowRow = memo(function WorkflowRow(props: RowProps) {
  const { item, position, project, rights, isNarrow, hasDraft, bars, onAction } = props;
  return (
    <tr aria-rowindex={position} className={classes['row']} style={{ height: ROW_HEIGHT }}>
      <Cell>
        <NameCell item={item} project={project} hasDraft={hasDraft} showsState={isNarrow} />
      </Cell>
      {!isNarrow && (
        <Cell>
          <StateBadge state={item.state} />
        </Cell>
      )}
      <Cell from="md">
        <TriggerCell item={item} />
      </Cell>
      <Cell from="sm">
        {item.lastRun === undefined ? (
          <NoRun hasTests={bars !== undefined && bars.length > 0} />
        ) : (
          <LastRun time={item.lastRun} />
        )}
      </Cell>
      <Cell from="md">
        <RateCell item={item} />
      </Cell>
      {bars && (
        <Cell from="lg">
          <RunBars bars={bars} />
        </Cell>
      )}
      <Cell>
        <ActiveSwitch item={item} project={project} mayChange={rights.mayChange} />
      </Cell>
      <Cell>
        <RowMenu item={item} project={project} rights={rights} onAction={onAction} />
      </Cell>
    </tr>
  );
});

/** `from`: the least width of the window at which it is shown. */
function Cell({ from, children }: { from?: 'sm' | 'md' | 'lg'; children: ReactNode }) {
  const shown = from === undefined ? '' : `mantine-visible-from-${from}`;
  return <td className={`${classes['cell']} ${shown}`}>{children}</td>;
}

function LastRun({ time }: { time: string }) {
  return (
    <div className={classes['upper']}>
      <Ago time={time} />
    </div>
  );
}

/** Dimmed text. `small`: for what is less important. */
function Dim({ small = false, title, children }: { small?: boolean; title?: string; children: ReactNode }) {
  return (
    <span className={classes[small ? 'dimSmall' : 'dim']} title={title}>
      {children}
    </span>
  );
}

/** Without a last run all bars are test runs, which do not count as runs of the workflow. */
function NoRun({ hasTests }: { hasTests: boolean }) {
  if (!hasTests) return <Dim>Never</Dim>;
  return <Dim title="Only test runs so far. Their bars are hollow.">Test runs only</Dim>;
}

type NameProps = { item: WorkflowItem; project: string; hasDraft: boolean; showsState: boolean };

function NameCell({ item, project, hasDraft, showsState }: NameProps) {
  const { name, title, manager, labels, state } = item;
  return (
    <>
      <TextLink
        to="/p/$project/workflows/$workflow"
        params={{ project, workflow: name }}
        data-row-link
        className={classes['name'] ?? ''}
        title={title}
      >
        {title}
      </TextLink>
      <div className={classes['line']}>
        <span className={classes['id']} title={name}>
          {name}
        </span>
        {manager !== undefined && (
          <span className={classes['manager']} title={managerText(manager)}>
            <IconGitBranch size={12} role="img" aria-label="Managed" />
            <span>{managerText(manager)}</span>
          </span>
        )}
        {hasDraft && (
          <span className={classes['draft']} title="Unpublished changes are saved as a draft.">
            <IconPencil size={12} aria-hidden />
            Draft
          </span>
        )}
        {labels.length > 0 && (
          <span className={classes['labels']} title={`Labels: ${labels.join(', ')}`}>
            <IconTag size={12} role="img" aria-label="Labels" />
            <span>{labels.toSorted((one, other) => one.length - other.length).join(', ')}</span>
          </span>
        )}
        {showsState && (
          <span className={classes['state']}>
            <StateBadge state={state} />
          </span>
        )}
      </div>
    </>
  );
}

function TriggerCell({ item: { trigger, isPublic } }: { item: WorkflowItem }): ReactNode {
  const words = trigger && triggerInfo(trigger);
  if (words === undefined) return trigger ?? '';
  const { kind, label } = words;
  const Icon = TRIGGER_ICONS[kind];
  return (
    <>
      <div className={classes['line']}>
        <span className={classes['icon']}>
          <Icon size={16} />
        </span>
        <span className={classes['cut']}>{label}</span>
      </div>
      {isPublic && (
        <div className={classes['below']}>
          <Dim small title="Anyone who knows the URL can start runs.">
            Public
          </Dim>
        </div>
      )}
    </>
  );
}

function RateCell({ item }: { item: WorkflowItem }) {
  const rate = successRate(item);
  if (rate === undefined) return <Dim>{`—`}</Dim>;
  const { succeeded, failed } = item;
  const ended = succeeded + failed;
  return (
    <span
      className={classes['rate']}
      title={`${number(succeeded)} of ${count(ended, 'run')} of all time succeeded, without test runs. Counted once a minute.`}
    >
      {rateText(rate)}
      <Dim small>{` of ${number(ended)}`}</Dim>
    </span>
  );
}

/** Arrow keys move from name to name. */
function moveByArrows(event: KeyboardEvent<HTMLTableElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-row-link]')];
  const at = links.indexOf(document.activeElement as HTMLElement);
  if (step === undefined || at < 0) return;
  event.preventDefault();
  links[at + step]?.focus();
}
