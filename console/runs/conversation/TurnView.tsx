/** One message or answer of a conversation, with its tool calls. */
import { Text, UnstyledButton } from '@mantine/core';
import { IconChevronRight } from '@tabler/icons-react';
import { useId, useLayoutEffect, useRef, useState, type ReactNode } from 'react';
import { count, formatDuration } from '../../ui/format.ts';
import type { Entry, Turn } from '../live/conversation.ts';
import { durationOf } from '../live/result.ts';
import { CallView } from './CallView.tsx';
import classes from './Conversation.module.css';

type Props = {
  turn: Turn;
  /** The positions of opened calls. */
  opened: ReadonlySet<number>;
  onToggle: (position: number) => void;
  /** Whether the agent still works, so that calls without a result are in progress. */
  isLive: boolean;
};

export function TurnView({ turn: { omitted, entry, calls }, opened, onToggle, isLive }: Props) {
  return (
    <>
      {omitted > 0 && (
        <li className={classes['omitted'] ?? ''}>{count(omitted, 'entry', 'entries')} left out</li>
      )}
      {(entry !== undefined || calls.length > 0) && (
        <li className={classes['turn'] ?? ''} data-role={entry?.role}>
          {entry !== undefined && <Message entry={entry} calls={calls.length} />}
          {calls.length > 0 && (
            <ul className={classes['calls'] ?? ''} aria-label="Tool calls">
              {calls.map((call) => (
                <CallView
                  key={call.position}
                  entry={call.entry}
                  isOpen={opened.has(call.position)}
                  onToggle={() => onToggle(call.position)}
                  isLive={isLive}
                />
              ))}
            </ul>
          )}
        </li>
      )}
    </>
  );
}

function Message({ entry, calls }: { entry: Entry; calls: number }) {
  const { role, text } = entry;
  if (role === 'System') return <SystemPrompt text={text} />;
  return (
    <>
      <div className={classes['head'] ?? ''}>
        <Text span size="xs" fw={600}>
          {role === 'User' ? 'Prompt' : 'Model'}
        </Text>
        <Text span size="xs" c="dimmed">
          {factsOf(entry).join(' · ')}
        </Text>
      </div>
      {text !== '' && <PlainText text={text} label={role === 'User' ? 'Prompt' : 'Answer of the model'} />}
      {text === '' && calls === 0 && (
        <Text size="sm" c="dimmed">
          Empty.
        </Text>
      )}
    </>
  );
}

/** The time and the tokens of an answer. */
function factsOf(entry: Entry): string[] {
  const took = entry.completionTime === undefined ? undefined : durationOf(entry, 0);
  const { inputTokens, outputTokens } = entry.usage ?? {};
  return [
    ...(took === undefined ? [] : [formatDuration(took)]),
    ...(inputTokens === undefined ? [] : [count(inputTokens, 'input token')]),
    ...(outputTokens === undefined ? [] : [count(outputTokens, 'output token')]),
  ];
}

function SystemPrompt({ text }: { text: string }) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  return (
    <>
      <Disclosure isOpen={isOpen} controls={id} onToggle={() => setOpen(!isOpen)}>
        <Text span size="xs" fw={600}>
          System prompt
        </Text>
      </Disclosure>
      <div id={id} hidden={!isOpen}>
        {isOpen && <PlainText text={text} label="System prompt" />}
      </div>
    </>
  );
}

type DisclosureProps = { isOpen: boolean; controls: string; onToggle: () => void; children: ReactNode };

/** A button that opens what it controls. */
export function Disclosure({ isOpen, controls, onToggle, children }: DisclosureProps) {
  return (
    <UnstyledButton
      className={classes['opener'] ?? ''}
      aria-expanded={isOpen}
      aria-controls={controls}
      onClick={onToggle}
    >
      <IconChevronRight
        size={14}
        aria-hidden
        className={classes['arrow'] ?? ''}
        data-open={isOpen || undefined}
      />
      {children}
    </UnstyledButton>
  );
}

/** A long text scrolls, also with the keyboard. */
export function PlainText({ text, label, isCode }: { text: string; label: string; isCode?: boolean }) {
  const box = useRef<HTMLDivElement>(null);
  const [isLong, setLong] = useState(false);
  useLayoutEffect(() => {
    const { scrollHeight = 0, clientHeight = 0 } = box.current ?? {};
    setLong(scrollHeight > clientHeight);
  }, [text]);
  return (
    <div
      ref={box}
      className={classes['text'] ?? ''}
      data-code={isCode || undefined}
      role="group"
      aria-label={label}
      tabIndex={isLong ? 0 : undefined}
    >
      {text}
    </div>
  );
}
