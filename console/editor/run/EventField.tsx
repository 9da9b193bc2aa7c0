/** The event with which a test run starts: from the draft or the last real event, and edited as JSON. */
import { Button, Group, Skeleton, Text } from '@mantine/core';
import { IconBroadcast, IconHistory } from '@tabler/icons-react';
import { lazy, Suspense, useCallback, useEffect, useRef, useState } from 'react';
import type { TriggerKind } from '../../../api/triggerKinds.ts';
import { lastRealEvent } from '../../runs/live/lastOutputs.ts';
import { notifyFailure, notifySuccess } from '../../ui/notify.tsx';
import { readTab, writeTab } from '../../ui/tabStore.ts';
import { useIsNarrow } from '../../ui/useIsNarrow.ts';
import { triggerOf } from '../model/model.ts';
import { pinOf } from '../model/pin.ts';
import { useEditor } from '../store/store.ts';
import { useTabKey } from '../store/useTabKey.ts';
import { MoveButton } from '../panel/MoveButton.tsx';
import {
  asTestData,
  prefilled,
  rememberedText,
  testDataOf,
  triggerKind,
  type ReadTestData,
  type RememberedEvent,
} from '../model/testData.ts';

const JsonCode = lazy(async () => ({ default: (await import('../../runs/output/JsonCode.tsx')).JsonCode }));

type TestData = {
  text: string;
  change: (text: string) => void;
  /** The text also before it is rendered. */
  latest: () => string;
  /** Lets the dialog have this text again when it opens next in this tab. */
  remember: () => void;
};

/**
 * The text of the test data: that of the last test run of this tab, or else the pinned event, or the
 * trigger's. The last real event replaces the example unless the user has changed it.
 */
export function useTestData(): TestData {
  const { draft, namespace, name } = useEditor();
  const [trigger] = useState(() => triggerOf(draft));
  const [pin] = useState(() => trigger && pinOf(draft, trigger.id));
  const [example] = useState(() =>
    JSON.stringify(pin ? asTestData(triggerKind(trigger), pin) : testDataOf(trigger), null, 2),
  );
  const kind = triggerKind(trigger);
  const at = useTabKey('event');
  const [ranLast] = useState(() => rememberedText(readTab(at), { kind, example }));
  const [text, setText] = useState(ranLast ?? example);
  const latest = useRef(text);
  const change = useCallback((next: string): void => {
    latest.current = next;
    setText(next);
  }, []);
  useEffect(() => {
    const isOwn = pin !== undefined || prefilled(trigger, undefined) !== undefined;
    if (ranLast !== undefined || isOwn) return undefined;
    let isOpen = true;
    const fill = async (): Promise<void> => {
      // If the event cannot be loaded, the example stays.
      const real = await lastRealEvent(namespace, name, trigger?.id ?? '').catch(() => undefined);
      const event = prefilled(trigger, real);
      if (isOpen && event !== undefined && latest.current === example) change(JSON.stringify(event, null, 2));
    };
    void fill();
    return () => {
      isOpen = false;
    };
  }, [trigger, pin, ranLast, namespace, name, example, change]);
  const remember = (): void =>
    writeTab(at, { kind, example, text: latest.current } satisfies RememberedEvent);
  return { text, change, latest: () => latest.current, remember };
}

/** The height of the field: that of its text, within bounds. */
function heightOf(text: string, most: number): number {
  return Math.min(most, Math.max(120, text.split('\n').length * LINE + AROUND));
}

/** On a narrow screen what follows the field begins above the buttons of the dialog. */
const MOST = { wide: 260, narrow: 220 };

/** The height of a line, and of the space above the first and below the last one, in pixels. */
const LINE = 18;
const AROUND = 12;

type EventProps = {
  kind: TriggerKind;
  text: string;
  onChange: (text: string) => void;
  read: ReadTestData;
  /** Whether this user, and this trigger, can listen for a real event. */
  mayListen: boolean;
  /** Listens for one; undefined: not now. */
  onListen: (() => void) | undefined;
  /** The user has stopped to listen, and goes on from there. */
  hasListened: boolean;
};

/** The field for the event, with its mistakes. */
export function EventField({ kind, text, onChange, read, mayListen, onListen, hasListened }: EventProps) {
  const { draft, namespace, name } = useEditor();
  const height = heightOf(text, useIsNarrow() ? MOST.narrow : MOST.wide);
  const takeReal = async (): Promise<void> => {
    try {
      const real = await lastRealEvent(namespace, name, triggerOf(draft)?.id ?? '');
      if (real === undefined) return notifySuccess('No real event has started a run yet.');
      onChange(JSON.stringify(asTestData(kind, real.output), null, 2));
      notifySuccess(`This is the event of ${real.run}${real.truncated ? ', truncated' : ''}.`);
    } catch (failure) {
      notifyFailure('Could not load the last event', failure);
    }
  };
  const hint =
    kind === 'manual'
      ? 'Nodes read the object as data_content of the trigger.'
      : 'text_content is a string, data_content any JSON value. Nodes can refer to both.';
  return (
    <>
      <Group justify="space-between" align="center" wrap="wrap" gap="xs">
        <Text size="sm" fw={600}>
          Test data
        </Text>
        <Group gap="xs">
          {mayListen && (
            <Button
              variant="default"
              disabled={onListen === undefined}
              leftSection={<IconBroadcast size={14} />}
              onClick={onListen}
              autoFocus={hasListened}
            >
              Listen for an event
            </Button>
          )}
          <Button variant="default" leftSection={<IconHistory size={14} />} onClick={() => void takeReal()}>
            Use last real event
          </Button>
        </Group>
      </Group>
      <Suspense fallback={<Skeleton h={height} />}>
        <JsonCode value={text} onChange={onChange} label="Test data" height={height} />
      </Suspense>
      <Text size="xs" c={read.ok ? 'dimmed' : 'red'} role={read.ok ? undefined : 'alert'}>
        {read.ok ? hint : read.message}
      </Text>
      <MoveButton read={read} onMove={onChange} />
    </>
  );
}
