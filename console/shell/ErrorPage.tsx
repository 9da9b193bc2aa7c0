/** The pages for errors and unknown URLs. */
import { Container } from '@mantine/core';
import { IconMapOff } from '@tabler/icons-react';
import type { ErrorComponentProps } from '@tanstack/react-router';
import { EmptyState } from '../ui/EmptyState.tsx';
import { FailureNote } from '../ui/FailureNote.tsx';
import { ButtonLink } from '../ui/links.tsx';

export function ErrorPage({ error, reset }: ErrorComponentProps) {
  return (
    <Container size="sm" py="xl">
      <FailureNote title="Something went wrong" error={error} onRetry={reset} />
    </Container>
  );
}

export function NotFoundPage() {
  return (
    <EmptyState
      icon={IconMapOff}
      title="Page not found"
      actions={<ButtonLink to="/">Go to projects</ButtonLink>}
    >
      Check the address. It may be mistyped, or what it showed was deleted.
    </EmptyState>
  );
}
