/** Tests a workflow as a conversation: each message is a test run of the published version. */
import { Alert, Anchor, Button, Group, Paper, Stack, Text, Textarea } from '@mantine/core';
import { IconSend } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState, type Dispatch, type ReactNode, type SetStateAction } from 'react';
import { isTerminal } from '../../../api/phase.ts';
import { startTestRun } from '../../runs/live/runRequests.ts';
import type { RunAt } from '../../runs/live/runAt.ts';
import { LiveText } from '../../runs/live/LiveText.tsx';
import { useFollowed } from '../../runs/live/runStore.ts';
import { FailureNote } from '../../ui/FailureNote.tsx';
import { Markdown } from '../../ui/Markdown.tsx';
import { isTrigger } from '../../workflows/kinds.ts';
import { triggerKind } from '../model/testData.ts';
import { reasonLabel } from '../../workflows/items.ts';
import { causeOf, detailOf } from '../../overview/statistics.ts';
import type { RunHead } from '../../runs/live/nodeView.ts';
import { panelSearch } from '../store/panelSearch.ts';
import { useEditor, useEditorPart } from '../store/store.ts';
import { answeringNode, answerText, eventOf, newPanelChat, type Message, type PanelChat } from './chat.ts';

type Props = { chat: PanelChat; onChat: Dispatch<SetStateAction<PanelChat>> };

export function ChatConversation({ chat: { session, messages }, onChat }: Props) {
  const { workflow, namespace, name, isDirty } = useEditor();
  const { spec } = workflow;
  const { url } = workflow.status ?? {};
  const isServed = url !== undefined && spec.nodes.some((node) => node.chat);
  return (
    <Stack gap="sm" style={{ flex: 1, minHeight: 0 }}>
      <Text size="sm" c="dimmed">
        Each message starts a test run of the published version, with real effects.
        {isDirty && ' Your changes are not published yet.'}
      </Text>
      {isServed && (
        <Anchor size="sm" href={url} target="_blank" rel="noreferrer">
          Open the chat page
        </Anchor>
      )}
      <Messages>
        {messages.map(({ id, text, run }) => (
          <Stack key={id} gap={4}>
            <Stack gap={2} align="flex-end">
              <Who>You</Who>
              <Paper bg="var(--mantine-color-default-hover)" p="xs" maw="85%" fz="sm" style={WRAPPED}>
                {text}
              </Paper>
            </Stack>
            <Answer at={{ namespace, workflow: name, run }} spec={spec} />
          </Stack>
        ))}
      </Messages>
      <Compose
        session={session}
        onSent={(sent) => onChat((before) => ({ ...before, messages: [...before.messages, sent] }))}
      />
      {messages.length > 0 && (
        <Button variant="subtle" style={{ flexShrink: 0 }} onClick={() => onChat(newPanelChat())}>
          New conversation
        </Button>
      )}
    </Stack>
  );
}

function Who({ children }: { children: string }) {
  return (
    <Text component="h3" size="xs" fw={600} c="dimmed">
      {children}
    </Text>
  );
}

const WRAPPED = { whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' } as const;

/** Scrolls by itself, so that the message field stays in view. The reversed column keeps its end in view. */
function Messages({ children }: { children: ReactNode }) {
  return (
    <div
      role="log"
      aria-label="Conversation"
      tabIndex={0}
      style={{ flex: 1, minHeight: 0, overflow: 'auto', display: 'flex', flexDirection: 'column-reverse' }}
    >
      <Stack gap="sm">{children}</Stack>
    </div>
  );
}

type ComposeProps = { session: string; onSent: (message: Message) => void };

function Compose({ session, onSent }: ComposeProps) {
  const { workflow, namespace, name } = useEditor();
  const [text, setText] = useState('');
  const [isSending, setSending] = useState(false);
  const [error, setError] = useState<unknown>();
  const field = useRef<HTMLTextAreaElement>(null);
  // The first time this is loaded after the drawer has moved the focus. Later it must not be moved before the
  // drawer has noted where it was, which it gets back when the drawer closes.
  useEffect(() => {
    const drawer = field.current?.closest('[role="dialog"]');
    if (drawer?.contains(document.activeElement) === true) field.current?.focus();
  }, []);
  const trigger = workflow.spec.nodes.find(isTrigger);
  const send = async (): Promise<void> => {
    if (text.trim() === '' || isSending) return;
    setSending(true);
    setError(undefined);
    try {
      const id = crypto.randomUUID();
      const event = eventOf(trigger, { text, id, session });
      const isOutput = triggerKind(trigger) !== 'manual';
      const run = await startTestRun(
        { namespace, workflow: name, event, isOutput },
        new AbortController().signal,
      );
      onSent({ id, text, run });
      setText('');
    } catch (failure) {
      setError(failure);
    } finally {
      setSending(false);
    }
  };
  return (
    <>
      {error !== undefined && <FailureNote title="Could not send the message" error={error} />}
      <Group align="flex-end" gap="xs" wrap="nowrap">
        <Textarea
          ref={field}
          label="Message"
          autosize
          minRows={1}
          maxRows={8}
          style={{ flex: 1 }}
          value={text}
          data-autofocus
          onChange={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
            event.preventDefault();
            void send();
          }}
        />
        <Button leftSection={<IconSend size={14} />} loading={isSending} onClick={() => void send()}>
          Send
        </Button>
      </Group>
    </>
  );
}

/** Such as "Budget exceeded": the cause of the failure, in words. */
function failureTitle({ phase, reason, message }: RunHead): string {
  return reason === undefined ? phase : reasonLabel(causeOf({ reason, ...(message && { message }) }).reason);
}

type AnswerProps = { at: RunAt; spec: Parameters<typeof answeringNode>[0] };

function Answer({ at, spec }: AnswerProps) {
  const { run, nodes } = useFollowed(at);
  const panel = useEditorPart((state) => state.panel);
  const id = answeringNode(spec) ?? '';
  const node = nodes.get(id);
  const isResponse = spec.nodes.some((each) => each.id === id && each.response);
  const hasEnded = isTerminal(run?.phase);
  return (
    <Stack gap={4}>
      <Who>Assistant</Who>
      {node?.output === undefined ? (
        !hasEnded && <LiveText at={at} nodeId={id} label="Answer" />
      ) : (
        <Markdown text={answerText(node, isResponse)} />
      )}
      {hasEnded && run?.phase !== 'Succeeded' && (
        <Alert color="red" title={run === undefined ? '' : failureTitle(run)}>
          {detailOf(run ?? {})}
        </Alert>
      )}
      <Anchor
        size="xs"
        renderRoot={(props) => (
          <Link
            {...props}
            to="/p/$project/workflows/$workflow"
            params={{ project: at.namespace, workflow: at.workflow }}
            search={{ run: at.run, ...panelSearch(panel) }}
          />
        )}
      >
        {at.run}
      </Anchor>
    </Stack>
  );
}
