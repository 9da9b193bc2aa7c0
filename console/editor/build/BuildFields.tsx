/** The fields of a request to a model: which one, what it may see, and the text that is sent. */
import {
  Autocomplete,
  Checkbox,
  Code,
  ScrollArea,
  Select,
  SimpleGrid,
  Text,
  VisuallyHidden,
} from '@mantine/core';
import { IconExternalLink } from '@tabler/icons-react';
import { useState } from 'react';
import { useMay } from '../../kube/access.ts';
import { CREDENTIALS } from '../../kube/resources.ts';
import { TextLink } from '../../ui/links.tsx';
import { visibleText } from '../../ui/visibleText.ts';
import type { BuildPrompt } from './buildPrompt.ts';
import type { ModelChoice } from './useModelChoice.ts';

type Props = {
  choice: ModelChoice;
  sendsOutputs: boolean;
  onSendsOutputs: (sends: boolean) => void;
  isReadOnly: boolean;
};

/** Aligns labels at the top and boxes at the bottom, also where one description has more lines. */
const ALIGNED = {
  root: { display: 'flex', flexDirection: 'column' },
  description: { marginBottom: 'calc(var(--mantine-spacing-xs) / 2)' },
  wrapper: { marginTop: 'auto' },
} as const;

export function ModelFields({ choice, sendsOutputs, onSendsOutputs, isReadOnly }: Props) {
  const { namespace, credential, credentials, model, models, choose } = choice;
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <Select
          styles={ALIGNED}
          label="Credential"
          description="A language model with OpenAI's API. The request is sent to its provider."
          placeholder={credentials.length === 0 ? 'The project has none' : 'Choose a credential'}
          data={credentials}
          value={credential === '' ? null : credential}
          readOnly={isReadOnly}
          onChange={(next) => choose({ credential: next ?? '', model: '' })}
        />
        <Autocomplete
          styles={ALIGNED}
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
      <NewCredential namespace={namespace} isHidden={isReadOnly} />
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

/**
 * In a new tab, so that the text in the drawer stays. Hidden, it keeps its place, so that the fields below do
 * not move.
 */
function NewCredential({ namespace, isHidden }: { namespace: string; isHidden: boolean }) {
  const mayCreate = useMay({ verb: 'create', resource: CREDENTIALS, namespace });
  if (!mayCreate) return null;
  return (
    <TextLink
      to="/p/$project/credentials"
      params={{ project: namespace }}
      search={{ new: true }}
      target="_blank"
      rel="noopener"
      preload={false}
      size="xs"
      style={{ alignSelf: 'flex-start', ...(isHidden && { visibility: 'hidden' }) }}
    >
      New credential…
      <IconExternalLink size={11} aria-hidden style={{ marginLeft: 4 }} />
      <VisuallyHidden> (new tab)</VisuallyHidden>
    </TextLink>
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
          mah="30vh"
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
