/**
 * Ask a model for a condition: words become CEL that compiles, previewed with the last outputs. Import it
 * lazily: it brings the CEL compiler.
 */
import { Button, Code, Group, Modal, Stack, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import { previewCel } from '../../forms/expression/celPreview.ts';
import { PreviewLine } from '../../forms/expression/PreviewLine.tsx';
import { useFormScope } from '../../forms/scope.ts';
import { useLastResults } from '../../runs/live/runStore.ts';
import { visibleText } from '../../ui/visibleText.ts';
import type { EdgeEnds } from '../model/graph.ts';
import { useEditor } from '../store/store.ts';
import { ModelFields, SentText } from './BuildFields.tsx';
import { conditionPrompt, type ConditionInput } from './conditionPrompt.ts';
import { proposeCondition } from './propose.ts';
import { RequestFooter } from './RequestFooter.tsx';
import { useModelChoice } from './useModelChoice.ts';
import { useModelRequest } from './useModelRequest.ts';

type Props = {
  ends: EdgeEnds;
  /** The condition so far. */
  value: string;
  onAccept: (when: string) => void;
  onClose: () => void;
};

export function ConditionWriter({ ends, value, onAccept, onClose }: Props) {
  const { namespace, draft } = useEditor();
  const { sources } = useFormScope();
  const choice = useModelChoice(namespace);
  const outputs = useLastResults();
  const [text, setText] = useState('');
  const [sendsOutputs, setSendsOutputs] = useState(false);
  const request = useModelRequest<string>(choice);
  const { result, step, start, drop } = request;
  const input: ConditionInput = {
    text: text.trim(),
    spec: draft.spec,
    ...ends,
    nodes: sources.nodes.map(({ id }) => id),
    outputs: sendsOutputs ? outputs : undefined,
  };
  const problemOf = (when: string): string | undefined => {
    const preview = previewCel(when, sources, true);
    return preview.kind === 'wrong' || preview.kind === 'unfinished' ? preview.message : undefined;
  };
  const isReady = input.text !== '' && choice.credential !== '' && choice.model !== '';
  return (
    <Modal opened onClose={onClose} title="Ask a model for a condition" size="lg">
      {result === undefined ? (
        <Stack gap="sm">
          <Textarea
            label="When should this connection be taken?"
            placeholder="For example: if the order is larger than 100 euros and the customer is new"
            autosize
            minRows={2}
            maxRows={6}
            maxLength={2_000}
            value={text}
            // Not `disabled`: the question stays readable meanwhile.
            readOnly={step !== undefined}
            onChange={(event) => setText(event.currentTarget.value)}
            data-autofocus
          />
          <ModelFields
            choice={choice}
            sendsOutputs={sendsOutputs}
            onSendsOutputs={setSendsOutputs}
            isReadOnly={step !== undefined}
          />
          <SentText prompt={() => conditionPrompt(input)} />
          <RequestFooter
            request={request}
            canStart={isReady}
            onStart={() => void start((context) => proposeCondition({ ...context, input, problemOf }))}
            onClose={onClose}
          />
        </Stack>
      ) : (
        <Stack gap="sm">
          <Condition label="Now" value={value} />
          <Condition label="Proposal" value={result} />
          <PreviewLine id="proposed-condition" preview={previewCel(result, sources, true)} />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={drop}>
              Reject
            </Button>
            <Button onClick={() => onAccept(result)} data-autofocus>
              Accept into the draft
            </Button>
          </Group>
        </Stack>
      )}
    </Modal>
  );
}

function Condition({ label, value }: { label: string; value: string }) {
  return (
    <div role="group" aria-label={label}>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
        {value === '' ? 'Always' : visibleText(value)}
      </Code>
    </div>
  );
}
