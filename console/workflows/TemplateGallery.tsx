/** The templates as cards, each with its drawing and the credentials that it needs. */
import { Group, SimpleGrid, Stack, Text, TextInput, UnstyledButton } from '@mantine/core';
import { IconKey, IconSearch } from '@tabler/icons-react';
import { useState } from 'react';
import { templates } from 'windlass:templates';
import { credentialKindsText } from '../credentials/choices.ts';
import { TRIGGER_ICONS } from './triggerIcons.ts';
import { matching, type Template } from './template.ts';
import { TemplateDrawing } from './TemplateDrawing.tsx';
import classes from './templates.module.css';

export function TemplateGallery({ onChoose }: { onChoose: (template: Template) => void }) {
  const [query, setQuery] = useState('');
  const found = matching(templates, query);
  return (
    <Stack gap="sm">
      <TextInput
        aria-label="Search templates"
        placeholder="Search: mail, agent, loop…"
        leftSection={<IconSearch size={16} />}
        value={query}
        onChange={(event) => setQuery(event.currentTarget.value)}
        data-autofocus
      />
      <Text size="xs" c="dimmed" role="status">
        {found.length === 0 ? 'No template matches.' : `${found.length} of ${templates.length} templates`}
      </Text>
      <SimpleGrid component="ul" cols={{ base: 1, sm: 2 }} spacing="sm" m={0} p={0} aria-label="Templates">
        {found.map((template) => (
          <li key={template.id} style={{ display: 'grid' }}>
            <Card template={template} onChoose={() => onChoose(template)} />
          </li>
        ))}
      </SimpleGrid>
    </Stack>
  );
}

function Card({ template, onChoose }: { template: Template; onChoose: () => void }) {
  const { trigger, spec, text, needs, drawing } = template;
  const Icon = TRIGGER_ICONS[trigger];
  return (
    <UnstyledButton className={classes['card'] ?? ''} onClick={onChoose}>
      <TemplateDrawing drawing={drawing} />
      <Group gap={6} wrap="nowrap">
        <Icon size={16} />
        <Text size="sm" fw={600}>
          {spec.displayName}
        </Text>
      </Group>
      <Text size="xs" c="dimmed" lineClamp={3}>
        {text}
      </Text>
      <Group gap={4} wrap="nowrap" mt="auto">
        <IconKey size={14} style={{ flexShrink: 0 }} aria-hidden />
        <Text size="xs">
          {needs.length === 0
            ? 'Needs no credential'
            : `Needs: ${needs.map(({ kinds }) => credentialKindsText(kinds)).join(', ')}`}
        </Text>
      </Group>
    </UnstyledButton>
  );
}
