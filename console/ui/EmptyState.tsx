/** Shown instead of an empty list: what belongs there, and the next step. */
import { Center, Stack, Text, ThemeIcon, Title } from '@mantine/core';
import type { ComponentType, ReactNode } from 'react';

type Props = {
  icon: ComponentType<{ size?: number }>;
  title: string;
  children?: ReactNode;
  /** Buttons for the next step. */
  actions?: ReactNode;
};

export function EmptyState({ icon: Icon, title, children, actions }: Props) {
  return (
    <Center py={64} px="md">
      <Stack align="center" gap="sm" maw={460}>
        <ThemeIcon size={48} variant="light" radius="xl" aria-hidden>
          <Icon size={26} />
        </ThemeIcon>
        <Title order={2} size="h4" ta="center">
          {title}
        </Title>
        {children !== undefined && (
          <Text size="sm" c="dimmed" ta="center" component="div">
            {children}
          </Text>
        )}
        {actions}
      </Stack>
    </Center>
  );
}
