/**
 * An output as a virtual tree with the usual keys (arrows, Home, End). Values can be copied, copied as
 * expressions, picked and dragged into a field.
 */
import { ActionIcon, Group, Text, Tooltip } from '@mantine/core';
import { IconBraces, IconChevronRight, IconCopy } from '@tabler/icons-react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useId, useRef, useState, type KeyboardEvent, type RefObject } from 'react';
import { copyText } from '../../ui/copy.tsx';
import {
  dragReference,
  expressionOf,
  firstOpen,
  foundRows,
  referenceOf,
  shortText,
  treeRows,
  wholeText,
  type Output,
  type TreeRow,
} from './outputTree.ts';
import classes from './Output.module.css';

type Props = {
  output: Output;
  nodeId: string;
  item?: number | undefined;
  /** The search text; empty: the whole tree. */
  search: string;
  onPick?: ((reference: string) => void) | undefined;
};

const ROW = 24;
const TALLEST = 420;
/** The length at which text on one line is cut. */
const LINE = 300;
/** Longer text is shown below the tree when its row is selected. */
const LONG = 60;

export function OutputTree({ output, nodeId, item, search, onPick }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const id = useId();
  const { rows, at, virtual, setActive, toggle, press } = useTree(
    { output, nodeId, item, search, onPick },
    box,
  );
  const chosen = rows[at];
  if (rows.length === 0)
    return (
      <Text size="sm" c="dimmed" py="xs">
        {search === '' ? 'The node produced no output.' : 'No matches.'}
      </Text>
    );
  return (
    <>
      <div
        ref={box}
        role="tree"
        aria-label={`Output of ${nodeId}`}
        aria-activedescendant={`${id}${at}`}
        tabIndex={0}
        className={classes['tree'] ?? ''}
        style={{ height: Math.min(TALLEST, rows.length * ROW + 2) }}
        onKeyDown={press}
      >
        <div style={{ height: virtual.getTotalSize(), position: 'relative' }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const row = rows[index];
            return (
              row && (
                <Row
                  key={row.key}
                  id={`${id}${index}`}
                  row={row}
                  start={start}
                  isActive={index === at}
                  reference={referenceOf(nodeId, row, item)}
                  onPick={onPick}
                  onClick={() => {
                    setActive(index);
                    toggle(row);
                  }}
                />
              )
            );
          })}
        </div>
      </div>
      {chosen?.kind === 'text' && String(chosen.value).length > LONG && (
        <div className={classes['whole'] ?? ''}>{String(chosen.value)}</div>
      )}
    </>
  );
}

function useTree({ output, nodeId, item, search, onPick }: Props, box: RefObject<HTMLDivElement | null>) {
  const [open, setOpen] = useState(() => firstOpen(output));
  const [active, setActive] = useState(0);
  const rows = search === '' ? treeRows(output, open) : foundRows(output, search);
  const at = Math.min(active, rows.length - 1);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW,
    overscan: 12,
  });
  useEffect(() => setActive(0), [search]);
  const toggle = ({ key, size }: TreeRow, isOpen = !open.has(key)): void => {
    if (size === 0) return;
    const next = new Set(open);
    if (isOpen) next.add(key);
    else next.delete(key);
    setOpen(next);
  };
  const go = (index: number): void => {
    const next = Math.max(0, Math.min(rows.length - 1, index));
    setActive(next);
    virtual.scrollToIndex(next);
  };
  const press = (event: KeyboardEvent): void => {
    const row = rows[at];
    if (row === undefined || event.target !== box.current) return;
    const act =
      event.key === 'Enter' && onPick
        ? () => onPick(referenceOf(nodeId, row, item))
        : keyAction(event, { rows, at, row, go, toggle });
    if (act === undefined) return;
    event.preventDefault();
    act();
  };
  return { rows, at, virtual, setActive, toggle, press };
}

type Keys = {
  rows: TreeRow[];
  at: number;
  row: TreeRow;
  go: (index: number) => void;
  toggle: (row: TreeRow, isOpen?: boolean) => void;
};

function keyAction({ key }: KeyboardEvent, { rows, at, row, go, toggle }: Keys): (() => void) | undefined {
  const parent = rows.findLastIndex(({ depth }, index) => index < at && depth < row.depth);
  const actions: Record<string, () => void> = {
    ArrowDown: () => go(at + 1),
    ArrowUp: () => go(at - 1),
    Home: () => go(0),
    End: () => go(rows.length - 1),
    ArrowRight: () => (row.isOpen ? go(at + 1) : toggle(row, true)),
    ArrowLeft: () => (row.isOpen || parent < 0 ? toggle(row, false) : go(parent)),
    Enter: () => toggle(row),
    ' ': () => toggle(row),
  };
  return actions[key];
}

type RowProps = {
  id: string;
  row: TreeRow;
  start: number;
  isActive: boolean;
  reference: string;
  onPick: ((reference: string) => void) | undefined;
  onClick: () => void;
};

function Row({ id, row, start, isActive, reference, onPick, onClick }: RowProps) {
  const { label, depth, value, kind, size, isOpen } = row;
  return (
    <div
      id={id}
      role="treeitem"
      aria-level={depth + 1}
      aria-selected={isActive}
      {...(size > 0 && { 'aria-expanded': isOpen })}
      className={classes['row'] ?? ''}
      data-active={isActive || undefined}
      style={{ transform: `translateY(${start}px)`, paddingLeft: 6 + depth * 14 }}
      draggable
      onDragStart={(event) => dragReference(event, reference)}
      onClick={onClick}
      onDoubleClick={() => onPick?.(reference)}
    >
      <IconChevronRight
        size={14}
        className={classes['arrow'] ?? ''}
        data-open={isOpen || undefined}
        style={{ visibility: size > 0 ? 'visible' : 'hidden' }}
        aria-hidden
      />
      <span className={classes['name'] ?? ''}>{label}</span>
      <span className={classes['value'] ?? ''} data-kind={kind}>
        {shortText(value).slice(0, LINE)}
      </span>
      <Group gap={2} wrap="nowrap" className={classes['actions'] ?? ''}>
        <Tooltip label="Copy value">
          <ActionIcon
            size={18}
            variant="subtle"
            color="gray"
            tabIndex={isActive ? 0 : -1}
            aria-label={`Copy value of ${label}`}
            onClick={(event) => {
              event.stopPropagation();
              void copyText(wholeText(value), 'value');
            }}
          >
            <IconCopy size={13} />
          </ActionIcon>
        </Tooltip>
        <Tooltip label={onPick ? 'Use as expression' : 'Copy as expression'}>
          <ActionIcon
            size={18}
            variant="subtle"
            color="gray"
            tabIndex={isActive ? 0 : -1}
            aria-label={onPick ? `Use ${label} as expression` : `Copy ${label} as expression`}
            onClick={(event) => {
              event.stopPropagation();
              if (onPick) onPick(reference);
              else void copyText(expressionOf(reference), 'expression');
            }}
          >
            <IconBraces size={13} />
          </ActionIcon>
        </Tooltip>
      </Group>
    </div>
  );
}
