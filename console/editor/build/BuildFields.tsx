/** The fields of a request to a model: which one, what it may see, and the text that is sent. */
import { Autocomplete, Checkbox, Code, ScrollArea, Select, SimpleGrid, Text } from '@mantine/core';
import { useState } from 'react';
import { visibleText } from '../../ui/visibleText.ts';
import type { BuildPrompt } from './buildPrompt.ts';
import type { ModelChoice } from './useModelChoice.ts';

type Props = {
  choice: ModelChoice;
  sendsOutputs: boolean;
  onSendsOutputs: (sends: boolean) => void;
  isReadOnly: boolean;
};

export function ModelFields({ choice, sendsOutputs, onSendsOutputs, isReadOnly }: Props) {
  const { credential, credentials, model, models, choose } = choice;
  return (
    <>
      {/* The boxes are in line, also where one description has two lines. */}
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm" style={{ alignItems: 'end' }}>
        <Select
          label="Credential"
          description="A language model with OpenAI's API. Its provider gets the request."
          placeholder={credentials.length === 0 ? 'The project has none' : 'Choose a credential'}
          data={credentials}
          value={credential === '' ? null : credential}
          readOnly={isReadOnly}
          onChange={(next) => choose({ credential: next ?? '', model: '' })}
        />
        <Autocomplete
          label="Model"
          description="Large models write better workflows."
          placeholder="Choose or enter a model"
          data={models}
          value={model}
          maxLength={256}
          readOnly={isReadOnly}
          onChange={(next) => choose({ model: next })}
        />
      </SimpleGrid>
      <Checkbox
        size="xs"
        label="Send the last outputs of the nodes"
        description="They help the model to find fields, and may contain personal data. The test data of the trigger is sent with them. Outputs and test data of sensitive nodes are not sent."
        checked={sendsOutputs}
        disabled={isReadOnly}
        onChange={(event) => onSendsOutputs(event.currentTarget.checked)}
      />
    </>
  );
}

/** What the model is sent, as text, on request. */
export function SentText({ prompt }: { prompt: () => BuildPrompt }) {
  const [isOpen, setOpen] = useState(false);
  const sent = isOpen ? prompt() : undefined;
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <Text component="summary" size="xs" style={{ cursor: 'pointer' }}>
        Show what is sent
      </Text>
      {sent !== undefined && (
        <ScrollArea.Autosize
          mah="60vh"
          mt="xs"
          viewportProps={{ tabIndex: 0, 'aria-label': 'What is sent', role: 'region' }}
        >
          <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
            {visibleText(`${sent.request}\n\n${sent.instructions}`)}
          </Code>
        </ScrollArea.Autosize>
      )}
    </details>
  );
}
