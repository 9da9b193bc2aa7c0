/** Creates a workflow from a template, with fitting credentials of the project. */
import '@mantine/core/styles/RadioCard.css';
import { Button, Group, List, Radio, ScrollArea, Stack, Text } from '@mantine/core';
import { useState, type SyntheticEvent } from 'react';
import { FailureNote } from '../ui/FailureNote.tsx';
import { filledNeeds, withCredentials, type FilledNeed, type KnownCredential } from './create.ts';
import classes from './CreateDialog.module.css';
import { NameFields, useCreate, useNames } from './NameFields.tsx';
import { TEMPLATES } from './templates/list.ts';
import type { Template } from './templates/template.ts';
import { TRIGGER_ICONS } from './triggerIcons.ts';

type Props = { project: string; taken: ReadonlySet<string>; credentials: KnownCredential[] };

export function CreateByTemplate(props: Props) {
  const [id, setId] = useState(TEMPLATES[0]?.id ?? '');
  const template = TEMPLATES.find((known) => known.id === id);
  return (
    <Stack>
      <Radio.Group label="Template" value={id} onChange={setId} size="xs">
        <ScrollArea.Autosize mah="32dvh" mt={6} type="auto" offsetScrollbars>
          <Stack gap="xs" p={2}>
            {TEMPLATES.map((known) => (
              <TemplateCard key={known.id} template={known} />
            ))}
          </Stack>
        </ScrollArea.Autosize>
      </Radio.Group>
      {template && <TemplateForm key={id} template={template} {...props} />}
    </Stack>
  );
}

function TemplateCard({ template: { id, trigger, spec, text } }: { template: Template }) {
  const Icon = TRIGGER_ICONS[trigger];
  return (
    <Radio.Card value={id} className={classes['card'] ?? ''} aria-label={`${spec.displayName}: ${text}`}>
      <Group gap="sm" wrap="nowrap" align="flex-start">
        <Icon size={20} />
        <div>
          <Text size="sm" fw={600}>
            {spec.displayName}
          </Text>
          <Text size="xs" c="dimmed">
            {text}
          </Text>
        </div>
      </Group>
    </Radio.Card>
  );
}

function TemplateForm({
  template: { spec, needs },
  project,
  taken,
  credentials,
}: Props & { template: Template }) {
  const names = useNames(taken, { displayName: spec.displayName });
  const [isTried, setTried] = useState(false);
  const create = useCreate(project);
  const filled = filledNeeds(needs, credentials);
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    setTried(true);
    if (names.problem !== undefined) return;
    const { displayName, name } = names;
    const title = displayName.trim() === '' ? {} : { displayName: displayName.trim() };
    create.mutate({ name, spec: { ...withCredentials(spec, filled), ...title } });
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        {filled.length > 0 && <Needs needs={filled} />}
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

function Needs({ needs }: { needs: FilledNeed[] }) {
  return (
    <div>
      <Text size="sm" fw={500}>
        Required credentials
      </Text>
      <List size="sm">
        {needs.map(({ name, what, found }) => (
          <List.Item key={name}>
            {what}:{' '}
            {found === undefined ? 'none in this project yet. Create one in the editor.' : `uses ${found}`}
          </List.Item>
        ))}
      </List>
    </div>
  );
}
