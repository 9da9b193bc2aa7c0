/** The output of a loop: counts, the first failures, and its results at once or one by one. */
import { ActionIcon, Anchor, Group, List, NumberInput, SegmentedControl, Stack, Text } from '@mantine/core';
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react';
import { useState, type ReactNode } from 'react';
import { count } from '../ui/format.ts';
import { FailureOf } from './FailureOf.tsx';
import { itemsText, type ItemCounts } from './live/nodeView.ts';
import { itemAt, itemTotal } from './output/items.ts';
import { OutputView } from './output/OutputView.tsx';
import type { Output } from './output/outputTree.ts';

type Props = {
  output: Output | undefined;
  nodeId: string;
  items: ItemCounts | undefined;
  /** The chosen item. */
  index: number;
  onIndex: (index: number) => void;
  /** Shown with one item. */
  aboutItem?: ((index: number) => ReactNode) | undefined;
  /** Shown with all results. */
  aboutAll?: ReactNode;
  isTruncated?: boolean;
  isRedacted?: boolean;
};

export function LoopOutput(props: Props) {
  const { output, nodeId, items, index, onIndex, aboutItem, aboutAll, isTruncated, isRedacted } = props;
  const total = itemTotal(output, items);
  const [shape, setShape] = useState<'all' | 'one'>('all');
  const show = (next: number): void => {
    setShape('one');
    onIndex(next);
  };
  return (
    <Stack gap="xs">
      {items !== undefined && <ItemFailures items={items} onShow={show} />}
      {total > 0 && (
        <Group gap="xs" wrap="wrap">
          <SegmentedControl
            size="xs"
            aria-label="Results"
            value={shape}
            data={[
              { value: 'all', label: 'All results' },
              { value: 'one', label: 'One item' },
            ]}
            onChange={setShape}
          />
          {shape === 'one' && (
            <ItemPager index={Math.min(index, total - 1)} total={total} onIndex={onIndex} />
          )}
        </Group>
      )}
      {shape === 'all' && aboutAll}
      {shape === 'one' && total > 0 && aboutItem?.(Math.min(index, total - 1))}
      {shape === 'one' && total > 0 ? (
        <OneItem {...{ output, nodeId, items }} index={Math.min(index, total - 1)} />
      ) : (
        <OutputView
          output={output}
          nodeId={nodeId}
          isTruncated={isTruncated === true}
          isRedacted={isRedacted === true}
        />
      )}
    </Stack>
  );
}

type OneProps = Pick<Props, 'output' | 'nodeId' | 'items' | 'index'>;

function OneItem({ output, nodeId, items, index }: OneProps) {
  const { output: result, failure } = itemAt(output, items, index);
  if (failure !== undefined)
    return (
      <FailureOf
        title={`Item [${index}] failed: ${failure.reason}`}
        reason={failure.reason}
        message={failure.message}
      />
    );
  if (result === undefined)
    return (
      <Text size="xs" c="dimmed">
        The record has no result of this item.
      </Text>
    );
  return <OutputView key={index} output={result} nodeId={nodeId} item={index} />;
}

function ItemFailures({ items, onShow }: { items: ItemCounts; onShow: (index: number) => void }) {
  const { failed, failures = [] } = items;
  return (
    <div role="group" aria-label="Items">
      <Text size="sm">{itemsText(items)}</Text>
      {failures.length > 0 && (
        <List size="xs" mt={4} listStyleType="none" aria-label="First failures">
          {failures.map(({ index, reason, message }) => (
            <List.Item key={index} style={{ overflowWrap: 'anywhere' }}>
              <Anchor
                component="button"
                type="button"
                size="xs"
                aria-label={`Show item ${index}`}
                onClick={() => onShow(index)}
              >
                [{index}]
              </Anchor>{' '}
              <b>{reason}</b>: {message}
            </List.Item>
          ))}
        </List>
      )}
      {failed > failures.length && failures.length > 0 && (
        <Text size="xs" c="dimmed">
          and {count(failed - failures.length, 'more failure')}
        </Text>
      )}
    </div>
  );
}

type PagerProps = { index: number; total: number; onIndex: (index: number) => void };

/** The widths of both brackets with the space around the number, and of a digit of it, in pixels. */
const BRACKETS = 56;
const DIGIT = 8;

/** Chooses an item by its index, as `$index` counts: from 0. */
export function ItemPager({ index, total, onIndex }: PagerProps) {
  return (
    <Group gap={4} wrap="nowrap" role="group" aria-label="Item">
      <ActionIcon
        variant="default"
        size={30}
        aria-label="Previous item"
        disabled={index <= 0}
        onClick={() => onIndex(index - 1)}
      >
        <IconChevronLeft size={16} />
      </ActionIcon>
      <NumberInput
        aria-label="Index of the item"
        w={BRACKETS + DIGIT * String(total - 1).length}
        hideControls
        allowDecimal={false}
        allowNegative={false}
        leftSectionWidth={18}
        leftSection={<Bracket>[</Bracket>}
        rightSectionWidth={18}
        rightSection={<Bracket>]</Bracket>}
        min={0}
        max={total - 1}
        value={index}
        onChange={(next) => {
          if (typeof next === 'number' && next >= 0 && next < total) onIndex(next);
        }}
      />
      <ActionIcon
        variant="default"
        size={30}
        aria-label="Next item"
        disabled={index >= total - 1}
        onClick={() => onIndex(index + 1)}
      >
        <IconChevronRight size={16} />
      </ActionIcon>
      <Text size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
        of {total.toLocaleString('en')}, counted from 0
      </Text>
    </Group>
  );
}

function Bracket({ children }: { children: string }) {
  return (
    <Text size="xs" c="dimmed" aria-hidden>
      {children}
    </Text>
  );
}
