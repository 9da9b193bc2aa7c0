/** Creates a workflow with a manual trigger, and opens its editor where a model proposes the rest. */
import { Stack, Text, Textarea } from '@mantine/core';
import { useState, type SyntheticEvent } from 'react';
import { FailureNote } from '../ui/FailureNote.tsx';
import { openBuild } from './buildRequests.ts';
import { startingSpec } from './create.ts';
import { CreateButtons, type Cancelling } from './CreateButtons.tsx';
import { NameFields, useCreate, useNames, type TypedName } from './NameFields.tsx';

type Props = Cancelling & TypedName & { project: string; taken: ReadonlySet<string> };

export function CreateByDescription({ project, taken, typedName, onTypedName, onCancel }: Props) {
  const create = useCreate(project);
  const names = useNames(taken, {
    displayName: typedName,
    created: create.created,
    onDisplayName: onTypedName,
  });
  const [text, setText] = useState('');
  const [isTried, setTried] = useState(false);
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    setTried(true);
    if (names.problem !== undefined || text.trim() === '') return;
    const { name } = names;
    const displayName = names.displayName.trim();
    const spec = startingSpec({ name, displayName, trigger: 'manual', credentials: [], timeZone: 'UTC' });
    openBuild(text.trim(), `${project}/${name}`);
    create.mutate({ name, spec });
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <NameFields names={names} placeholder="For example: Order confirmation" showsProblem={isTried} />
        <Textarea
          label="What should the workflow do?"
          placeholder="For example: When an order arrives, check the stock, and send an email if an article is missing."
          autosize
          minRows={4}
          maxRows={10}
          maxLength={8_000}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          error={isTried && text.trim() === '' ? 'Describe the workflow.' : undefined}
        />
        <Text size="xs" c="dimmed">
          The workflow is created inactive, with a manual trigger. In its editor you choose the model, see
          what is sent, and accept or reject what it proposes.
        </Text>
        {create.error !== null && <FailureNote error={create.error} />}
        <CreateButtons onCancel={onCancel} isPending={create.isPending} />
      </Stack>
    </form>
  );
}
