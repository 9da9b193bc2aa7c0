/** Credentials and workflows that need attention, each with what is wrong. */
import { Badge, Card, Group, Stack, Text, Title } from '@mantine/core';
import { IconAlertTriangle, IconCircleX } from '@tabler/icons-react';
import { TextLink } from '../ui/links.tsx';
import { attentionCounts, type Attention } from './attention.ts';

/** More are in the lists of credentials and workflows. */
const SHOWN = 8;

export function AttentionList({ all, project }: { all: readonly Attention[]; project: string }) {
  return (
    <Card withBorder padding="md" component="section" aria-label="Needs attention">
      <Title order={2} size="h5" mb="xs">
        Needs attention
      </Title>
      {all.length === 0 ? (
        <Text size="sm" c="dimmed">
          Nothing. No credential is rejected, incomplete or about to expire, and no workflow has a problem.
        </Text>
      ) : (
        <Stack gap="sm">
          {all.slice(0, SHOWN).map((each) => (
            <Item key={`${each.of} ${each.name}`} {...each} project={project} />
          ))}
          {all.length > SHOWN && (
            <Text size="xs" c="dimmed">
              And {attentionCounts(all.slice(SHOWN))} more: see{' '}
              <TextLink to="/p/$project/credentials" params={{ project }} size="xs">
                Credentials
              </TextLink>{' '}
              and{' '}
              <TextLink to="/p/$project/workflows" params={{ project }} size="xs">
                Workflows
              </TextLink>
            </Text>
          )}
        </Stack>
      )}
    </Card>
  );
}

function Item({ of, name, title, kind, isBroken, label, message, project }: Attention & { project: string }) {
  // As in the lists of credentials and workflows.
  const Icon = of === 'credential' && isBroken ? IconCircleX : IconAlertTriangle;
  return (
    <div>
      <Group gap="xs">
        {of === 'credential' ? (
          <TextLink
            to="/p/$project/credentials"
            params={{ project }}
            search={{ credential: name }}
            size="sm"
            fw={600}
          >
            {title}
          </TextLink>
        ) : (
          <TextLink
            to="/p/$project/workflows/$workflow"
            params={{ project, workflow: name }}
            size="sm"
            fw={600}
          >
            {title}
          </TextLink>
        )}
        <Text size="xs" c="dimmed">
          {kind}
        </Text>
        <Badge
          variant="light"
          color={isBroken ? 'red' : 'orange'}
          tt="none"
          radius="sm"
          fw={500}
          style={{ color: 'var(--mantine-color-text)' }}
          leftSection={<Icon size={12} />}
        >
          {label}
        </Badge>
      </Group>
      <Text size="xs" c="dimmed" mt={2} lineClamp={3} style={{ overflowWrap: 'anywhere' }}>
        {message}
      </Text>
    </div>
  );
}
