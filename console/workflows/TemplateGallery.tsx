/** The templates as cards, each with its drawing and the credentials that it needs. */
import { Button, Group, SimpleGrid, Stack, Text, TextInput, UnstyledButton } from '@mantine/core';
import { IconCheck, IconKey, IconSearch, IconSearchOff } from '@tabler/icons-react';
import { useState } from 'react';
import { templates } from 'windlass:templates';
import { credentialKindsText } from '../credentials/kindLabels.ts';
import { EmptyState } from '../ui/EmptyState.tsx';
import { TRIGGER_ICONS } from './triggerIcons.ts';
import { isMet, type KnownCredential } from './create.ts';
import { CATEGORIES, categoriesOf, type Category } from './templateCategories.ts';
import { matching, summaryOf, type Need, type Template } from './template.ts';
import { TemplateDrawing } from './TemplateDrawing.tsx';
import classes from './templates.module.css';

type Props = {
  /** Those of the project, so that each template says which of its needs are met. */
  credentials: readonly KnownCredential[];
  onChoose: (template: Template) => void;
};

export function TemplateGallery({ credentials, onChoose }: Props) {
  const [query, setQuery] = useState('');
  const [category, setCategory] = useState<Category>();
  const matches = matching(templates, query);
  const found = matches.filter(({ spec }) => category === undefined || categoriesOf(spec).includes(category));
  return (
    <Stack gap="sm">
      <TextInput
        aria-label="Search templates"
        placeholder="Search: email, agent, loop…"
        leftSection={<IconSearch size={16} />}
        value={query}
        onChange={(event) => setQuery(event.currentTarget.value)}
        data-autofocus
      />
      <Group gap={6} role="group" aria-label="Categories" className={classes['categories'] ?? ''}>
        {[undefined, ...CATEGORIES].map((name) => (
          <Button
            key={name ?? ''}
            size="compact-sm"
            radius="xl"
            variant={category === name ? 'filled' : 'default'}
            aria-pressed={category === name}
            onClick={() => setCategory(name)}
          >
            {name ?? 'All'}
          </Button>
        ))}
      </Group>
      <Text size="xs" c="dimmed" role="status">
        {found.length} of {templates.length} templates
      </Text>
      {found.length === 0 && (
        <EmptyState
          icon={IconSearchOff}
          title="No templates match"
          actions={
            <Button
              variant="default"
              onClick={() => {
                setQuery('');
                setCategory(undefined);
              }}
            >
              {category === undefined ? 'Clear search' : 'Clear filters'}
            </Button>
          }
        >
          None of the {templates.length} templates matches the{' '}
          {category === undefined ? 'search' : query.trim() === '' ? 'category' : 'search and the category'}.
        </EmptyState>
      )}
      <SimpleGrid
        component="ul"
        cols={{ base: 1, sm: 2, xl: 3 }}
        spacing="sm"
        m={0}
        p={0}
        aria-label="Templates"
      >
        {found.map((template) => (
          <li key={template.id} style={{ display: 'grid' }}>
            <Card template={template} credentials={credentials} onChoose={() => onChoose(template)} />
          </li>
        ))}
      </SimpleGrid>
    </Stack>
  );
}

type CardProps = { template: Template; credentials: readonly KnownCredential[]; onChoose: () => void };

function Card({ template, credentials, onChoose }: CardProps) {
  const { trigger, spec, needs } = template;
  const Icon = TRIGGER_ICONS[trigger];
  return (
    <UnstyledButton className={classes['card'] ?? ''} onClick={onChoose}>
      <TemplateDrawing template={template} />
      <Group gap={6} wrap="nowrap">
        <Icon size={16} />
        <Text size="sm" fw={600}>
          {spec.displayName}
        </Text>
      </Group>
      <Text size="xs" c="dimmed" lineClamp={4}>
        {summaryOf(template)}
      </Text>
      <Group gap="xs" mt="auto">
        {needs.length === 0 && <Text size="xs">Needs no credential</Text>}
        {needs.map((need) => (
          <NeedMark key={need.name} need={need} isMet={isMet(need, credentials)} />
        ))}
      </Group>
    </UnstyledButton>
  );
}

/** A credential that a template needs, and whether the project has one. */
function NeedMark({ need: { kinds }, isMet: has }: { need: Need; isMet: boolean }) {
  const Icon = has ? IconCheck : IconKey;
  return (
    <Group gap={4} wrap="nowrap">
      <Icon size={14} style={{ flexShrink: 0 }} aria-hidden />
      <Text size="xs">
        {credentialKindsText(kinds, 'One of: ')}
        {has ? ' (available)' : ' (missing)'}
      </Text>
    </Group>
  );
}
