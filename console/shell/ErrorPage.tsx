/** What stands where a page broke, or where no page is. */
import { Container, Title } from '@mantine/core';
import type { ErrorComponentProps } from '@tanstack/react-router';
import { FailureNote } from './FailureNote.tsx';
import { TextLink } from './links.tsx';

export function ErrorPage({ error, reset }: ErrorComponentProps) {
  return (
    <Container size="sm" py="xl">
      <FailureNote title="This page cannot be shown" error={error} onRetry={reset} />
    </Container>
  );
}

export function NotFoundPage() {
  return (
    <Container size="sm" py="xl">
      <Title order={1} size="h3" mb="sm">
        There is no such page
      </Title>
      <TextLink to="/">To the projects</TextLink>
    </Container>
  );
}
