/** One message or answer of a conversation, with its tool calls. */
import { Text } from '@mantine/core';
import { useId, useState } from 'react';
import { count, formatDuration } from '../../ui/format.ts';
import type { Entry, Message } from '../live/conversation.ts';
import { durationOf } from '../live/result.ts';
import { CallView } from './CallView.tsx';
import { memoryText } from './countsText.ts';
import { Disclosure, PlainText } from './parts.tsx';
import classes from './Conversation.module.css';

type Props = {
  project: string | undefined;
  message: Message;
  /** The positions of opened calls. */
  opened: ReadonlySet<number>;
  onToggle: (position: number) => void;
  /** Whether the agent still works, so that calls without a result are in progress. */
  isLive: boolean;
};

export function MessageView({
  project,
  message: { omitted, entry, calls },
  opened,
  onToggle,
  isLive,
}: Props) {
  return (
    <>
      {omitted > 0 && (
        <li className={classes['omitted'] ?? ''}>
          {count(omitted, 'entry', 'entries')} left out: a run keeps only a part of a long conversation
        </li>
      )}
      {(entry !== undefined || calls.length > 0) && (
        <li className={classes['message'] ?? ''} data-role={entry?.role}>
          {entry !== undefined && <MessageText entry={entry} calls={calls.length} />}
          {calls.length > 0 && (
            <ul className={classes['calls'] ?? ''} aria-label="Tool calls">
              {calls.map((call) => (
                <CallView
                  key={call.position}
                  project={project}
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

function MessageText({ entry, calls }: { entry: Entry; calls: number }) {
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
      {entry.memoryTurns !== undefined && (
        <Text size="xs" c="dimmed" mb={4}>
          {memoryText(entry.memoryTurns)}
        </Text>
      )}
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
