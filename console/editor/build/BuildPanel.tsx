/**
 * Help me build: words become a proposal of a model, which the user accepts into the draft or rejects.
 * Nothing is published or executed. Import it lazily: it brings the CEL compiler and the comparison.
 */
import { Stack, Textarea } from '@mantine/core';
import { useState } from 'react';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import { useLastResults } from '../../runs/live/runStore.ts';
import { notifySuccess } from '../../ui/notify.tsx';
import { useKnownCredentials } from '../gallery/useKnownCredentials.ts';
import { withSpec } from '../model/yamlText.ts';
import { useMayPublish } from '../store/rights.ts';
import { useEditor } from '../store/store.ts';
import { ModelFields, SentText } from './BuildFields.tsx';
import { workflowPrompt, type BuildInput } from './buildPrompt.ts';
import { ProposalView } from './ProposalView.tsx';
import { propose, type Proposal } from './propose.ts';
import { RequestFooter } from './RequestFooter.tsx';
import { schemas } from 'windlass:schemas';
import { useModelChoice } from './useModelChoice.ts';
import { useModelRequest } from './useModelRequest.ts';

type Props = { text: string; onClose: () => void };

/** The drawer gives the focus to its first button while this is being loaded. */
function focusLate(field: HTMLTextAreaElement | null): void {
  field?.focus({ preventScroll: true });
}

/** The longest description, in characters. */
const LONGEST = 8_000;

/** `before`: the draft for which it was proposed. */
type Proposed = Proposal & { before: WorkflowSpec };

export function BuildPanel({ text: firstText, onClose }: Props) {
  const { namespace, draft, saved, apply, undo } = useEditor();
  const mayPublish = useMayPublish();
  const choice = useModelChoice(namespace);
  const [text, setText] = useState(firstText);
  const [sendsOutputs, setSendsOutputs] = useState(false);
  const credentials = useKnownCredentials(namespace);
  const outputs = useLastResults();
  const request = useModelRequest<Proposed>(choice);
  const { result, step, start, drop } = request;
  const input: BuildInput = {
    text: text.trim(),
    spec: draft.spec,
    credentials,
    outputs: sendsOutputs ? outputs : undefined,
  };
  if (result !== undefined)
    return (
      <ProposalView
        {...result}
        onAccept={() => {
          apply((before) => withSpec(before, result.spec), { isWhole: true });
          notifySuccess('Proposal accepted into the draft.', { text: 'Undo', onClick: undo });
          onClose();
        }}
        onReject={drop}
      />
    );
  return (
    <Stack gap="sm">
      <Textarea
        label="What should the workflow do?"
        description="Describe the workflow or a change to it. The answer is a proposal that you accept or reject."
        placeholder="For example: When an order arrives, check the stock, and send an email if an article is missing."
        autosize
        minRows={4}
        maxRows={12}
        maxLength={LONGEST}
        value={text}
        // Not `disabled`: the question stays readable meanwhile.
        readOnly={step !== undefined}
        onChange={(event) => setText(event.currentTarget.value)}
        ref={focusLate}
        data-autofocus
      />
      <ModelFields
        choice={choice}
        sendsOutputs={sendsOutputs}
        onSendsOutputs={setSendsOutputs}
        isReadOnly={step !== undefined}
      />
      <SentText prompt={() => workflowPrompt(input, schemas)} />
      <RequestFooter
        request={request}
        canStart={input.text !== '' && choice.credential !== '' && choice.model !== ''}
        onStart={() =>
          void start(async (context) => ({
            ...(await propose({ ...context, input, saved: mayPublish ? saved.spec : undefined })),
            before: input.spec,
          }))
        }
        onClose={onClose}
      />
    </Stack>
  );
}
