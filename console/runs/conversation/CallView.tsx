/** A tool call, which opens: its arguments, and its result or error. */
import { Button, Group, Loader, Text } from '@mantine/core';
import { IconCircleCheckFilled, IconCircleDashed, IconCircleXFilled, IconCopy } from '@tabler/icons-react';
import { useId, type ReactNode } from 'react';
import { copyText } from '../../ui/copy.tsx';
import { formatDuration } from '../../ui/format.ts';
import { useNow } from '../../ui/useNow.ts';
import { visibleText } from '../../ui/visibleText.ts';
import { stateOf, type CallState, type Entry } from '../live/conversation.ts';
import { ChildLink } from '../live/ChildLink.tsx';
import { durationOf } from '../live/result.ts';
import { jsonText } from './jsonText.ts';
import { Disclosure, PlainText } from './parts.tsx';
import classes from './Conversation.module.css';

type Props = {
  project: string | undefined;
  entry: Entry;
  isOpen: boolean;
  onToggle: () => void;
  isLive: boolean;
};

export function CallView({ project, entry, isOpen, onToggle, isLive }: Props) {
  const id = useId();
  const { tool = 'tool', arguments: given = '{}' } = entry;
  const state = shownState(entry, isLive);
  const now = useNow(state === 'running', 1_000);
  return (
    <li className={classes['call'] ?? ''}>
      <Disclosure isOpen={isOpen} controls={id} onToggle={onToggle}>
        <span className={classes['icon'] ?? ''} data-state={state}>
          {ICONS[state]}
        </span>
        <Text span size="sm" fw={600} className={classes['name'] ?? ''}>
          {visibleText(tool)}
        </Text>
        <Text span size="xs" c="dimmed" className={classes['preview'] ?? ''}>
          {isOpen || given === '{}' ? '' : visibleText(given.slice(0, PREVIEW))}
        </Text>
        <Text span size="xs" c="dimmed" className={classes['facts'] ?? ''}>
          {factsOf(entry, state, now)}
        </Text>
      </Disclosure>
      <div id={id} hidden={!isOpen} className={classes['opened'] ?? ''}>
        {isOpen && <OpenedCall project={project} entry={entry} state={state} />}
      </div>
    </li>
  );
}

type OpenedProps = Pick<Props, 'project' | 'entry'> & { state: ShownState };

function OpenedCall({ project, entry, state }: OpenedProps) {
  const { tool = 'tool', arguments: given = '{}', text } = entry;
  const title = state === 'failed' ? 'Error' : 'Result';
  return (
    <>
      {entry.run !== undefined && project !== undefined && <ChildLink project={project} run={entry.run} />}
      <Part title="Arguments" text={jsonText(given)} label={`Arguments of ${tool}`} />
      {(state === 'done' || state === 'failed') && (
        <Part title={title} text={text === '' ? '(empty)' : jsonText(text)} label={`${title} of ${tool}`} />
      )}
    </>
  );
}

const PREVIEW = 200;

type ShownState = CallState | 'unfinished';

const ICONS: Record<ShownState, ReactNode> = {
  waiting: <IconCircleDashed size={15} aria-hidden />,
  running: <Loader size={13} aria-hidden />,
  failed: <IconCircleXFilled size={15} aria-hidden />,
  done: <IconCircleCheckFilled size={15} aria-hidden />,
  unfinished: <IconCircleDashed size={15} aria-hidden />,
};

const WORDS: Partial<Record<ShownState, string>> = {
  waiting: 'waiting',
  running: 'running',
  failed: 'failed',
  unfinished: 'no result',
};

/** Once the agent has ended, a call without a result gets none. */
function shownState(entry: Entry, isLive: boolean): ShownState {
  const state = stateOf(entry);
  return isLive || state === 'failed' || state === 'done' ? state : 'unfinished';
}

/** The state in a word, if the icon does not tell all, and the duration so far. */
function factsOf(entry: Entry, state: ShownState, now: number): string {
  const took = state === 'unfinished' ? undefined : durationOf(entry, now);
  const word = WORDS[state];
  return [...(word === undefined ? [] : [word]), ...(took === undefined ? [] : [formatDuration(took)])].join(
    ' · ',
  );
}

function Part({ title, text, label }: { title: string; text: string; label: string }) {
  return (
    <div>
      <Group justify="space-between" gap="xs" mb={2}>
        <Text size="xs" c="dimmed">
          {title}
        </Text>
        <Button
          variant="subtle"
          size="compact-xs"
          leftSection={<IconCopy size={12} />}
          aria-label={`Copy: ${label}`}
          onClick={() => void copyText(text, title.toLowerCase())}
        >
          Copy
        </Button>
      </Group>
      <PlainText text={text} label={label} isCode />
    </div>
  );
}
