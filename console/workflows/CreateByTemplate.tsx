/** Creates a workflow from a template, with credentials of the project. */
import { Button, Group, Stack, Text } from '@mantine/core';
import { IconArrowLeft } from '@tabler/icons-react';
import { useState, type SyntheticEvent } from 'react';
import { FailureNote } from '../ui/FailureNote.tsx';
import { foundCredentials, withCredentials, type KnownCredential } from './create.ts';
import { NameFields, useCreate, useNames } from './NameFields.tsx';
import { NeedSelect } from './NeedSelect.tsx';
import type { Template } from './template.ts';
import { TemplateDrawing } from './TemplateDrawing.tsx';
import { TemplateGallery } from './TemplateGallery.tsx';

type Props = { project: string; taken: ReadonlySet<string>; credentials: KnownCredential[] };

export function CreateByTemplate(props: Props) {
  const [template, setTemplate] = useState<Template>();
  if (template === undefined) return <TemplateGallery onChoose={setTemplate} />;
  return <TemplateForm template={template} onBack={() => setTemplate(undefined)} {...props} />;
}

type FormProps = Props & { template: Template; onBack: () => void };

function TemplateForm({ template, onBack, project, taken, credentials }: FormProps) {
  const { spec, needs, text, drawing } = template;
  const names = useNames(taken, { displayName: spec.displayName });
  const [isTried, setTried] = useState(false);
  const [chosen, setChosen] = useState(() => foundCredentials(needs, credentials));
  const create = useCreate(project);
  const isComplete = needs.every(({ name }) => chosen.has(name));
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    setTried(true);
    if (names.problem !== undefined) return;
    const { displayName, name } = names;
    const title = displayName.trim() === '' ? {} : { displayName: displayName.trim() };
    create.mutate({ name, spec: { ...withCredentials(spec, chosen), ...title } });
  };
  const choose = (name: string, credential: string | undefined): void => {
    const next = new Map(chosen);
    if (credential === undefined) next.delete(name);
    else next.set(name, credential);
    setChosen(next);
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <Button
          variant="subtle"
          leftSection={<IconArrowLeft size={14} />}
          onClick={onBack}
          style={{ alignSelf: 'flex-start' }}
          data-autofocus
        >
          All templates
        </Button>
        <TemplateDrawing drawing={drawing} isLarge />
        <Text size="sm">{text}</Text>
        {needs.map((need) => (
          <NeedSelect
            key={need.name}
            project={project}
            need={need}
            credentials={credentials}
            value={chosen.get(need.name)}
            onChange={(credential) => choose(need.name, credential)}
          />
        ))}
        {!isComplete && (
          <Text size="xs" c="dimmed">
            You can create the workflow now and choose the missing credentials in the editor.
          </Text>
        )}
        <NameFields names={names} showsProblem={isTried} />
        {create.error !== null && <FailureNote error={create.error} />}
        <Group justify="flex-end">
          <Button type="submit" loading={create.isPending}>
            Create and open
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
