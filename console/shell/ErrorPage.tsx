/** What stands where a page broke, or where no page is. */
import { Container } from '@mantine/core';
import { IconMapOff } from '@tabler/icons-react';
import type { ErrorComponentProps } from '@tanstack/react-router';
import { EmptyState } from './EmptyState.tsx';
import { FailureNote } from './FailureNote.tsx';
import { ButtonLink } from './links.tsx';

export function ErrorPage({ error, reset }: ErrorComponentProps) {
  return (
    <Container size="sm" py="xl">
      <FailureNote title="This page cannot be shown" error={error} onRetry={reset} />
    </Container>
  );
}

export function NotFoundPage() {
  return (
    <EmptyState
      icon={IconMapOff}
      title="There is no such page"
      actions={<ButtonLink to="/">To the projects</ButtonLink>}
    >
      The address is mistyped, or leads to what has another name now.
    </EmptyState>
  );
}
