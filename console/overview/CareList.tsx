/** The credentials that need somebody. */
import { Badge, Card, Group, Stack, Text, Title } from '@mantine/core';
import { IconAlertTriangle, IconClock } from '@tabler/icons-react';
import { TextLink } from '../ui/links.tsx';
import type { CredentialCare } from './attention.ts';

export function CareList({ credentials, project }: { credentials: CredentialCare[]; project: string }) {
  return (
    <Card withBorder padding="md" component="section" aria-label="Credentials that need attention">
      <Title order={2} size="h5" mb="xs">
        Credentials that need attention
      </Title>
      {credentials.length === 0 ? (
        <Text size="sm" c="dimmed">
          None. No credential is rejected, incomplete or about to expire.
        </Text>
      ) : (
        <Stack gap="sm">
          {credentials.map(({ name, kind, isBroken, label, message }) => (
            <div key={name}>
              <Group gap="xs">
                <TextLink
                  to="/p/$project/credentials"
                  params={{ project }}
                  search={{ credential: name }}
                  size="sm"
                  fw={600}
                >
                  {name}
                </TextLink>
                <Text size="xs" c="dimmed">
                  {kind}
                </Text>
                <Badge
                  variant="light"
                  color={isBroken ? 'red' : 'yellow'}
                  tt="none"
                  radius="sm"
                  fw={500}
                  style={{ color: 'var(--mantine-color-text)' }}
                  leftSection={isBroken ? <IconAlertTriangle size={12} /> : <IconClock size={12} />}
                >
                  {label}
                </Badge>
              </Group>
              <Text size="xs" c="dimmed" lineClamp={3} style={{ overflowWrap: 'anywhere' }}>
                {message}
              </Text>
            </div>
          ))}
        </Stack>
      )}
    </Card>
  );
}
