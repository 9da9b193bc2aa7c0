/** The page for whoever is not signed in yet. */
import { Center, Group, Paper, Text, Title } from '@mantine/core';
import { Logo } from '../ui/Logo.tsx';
import type { Session } from './session.ts';
import { SignInForm } from './SignInForm.tsx';

export function SignInPage({
  session,
  onSignedIn,
}: {
  session: Session;
  onSignedIn: (session: Session) => void;
}) {
  return (
    <Center component="main" mih="100%" p="md">
      <Paper withBorder p="xl" w="100%" maw={440}>
        <Group gap="sm" mb="xs">
          <Logo size={28} />
          <Title order={1} size="h3">
            Windlass
          </Title>
        </Group>
        <Text c="dimmed" size="sm" mb="lg">
          Build, run and watch workflows on this cluster.
        </Text>
        <SignInForm session={session} back={location.pathname + location.search} onSignedIn={onSignedIn} />
      </Paper>
    </Center>
  );
}
