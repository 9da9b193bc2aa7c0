/**
 * Shows the console to signed-in users. When a session expires, a dialog over the page asks for a new
 * sign-in, so that no input is lost; refused calls are then repeated.
 */
import { Center, Group, Loader, Modal, Paper, Text, Title } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { onSessionEnded } from '../http/call.ts';
import { reconnect } from '../kube/live.ts';
import { FailureNote } from '../ui/FailureNote.tsx';
import { SESSION_KEY, sessionQuery, userNameOf, type Session } from './session.ts';
import { SignInForm } from './SignInForm.tsx';
import { Logo } from '../ui/Logo.tsx';

export function SessionGate({ children }: { children: ReactNode }) {
  const client = useQueryClient();
  const { data: session, error, refetch } = useQuery(sessionQuery);
  const { isAsking, done } = useRenewal();
  const take = (next: Session): void => {
    const isAnother = userNameOf(next) !== userNameOf(session);
    client.setQueryData(SESSION_KEY, next);
    if (isAnother) void client.resetQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION_KEY[0] });
    done();
    reconnect();
  };

  if (error !== null && session === undefined)
    return (
      <Center mih="100%" p="md">
        <FailureNote error={error} onRetry={() => void refetch()} />
      </Center>
    );
  if (session === undefined)
    return (
      <Center mih="100%">
        <Loader role="progressbar" aria-label="Loading" />
      </Center>
    );
  if (!session.signedIn) return <SignInPage session={session} onSignedIn={take} />;
  return (
    <>
      {children}
      <Modal
        opened={isAsking}
        onClose={() => {}}
        zIndex={LAYER}
        withCloseButton={false}
        closeOnEscape={false}
        closeOnClickOutside={false}
        title="Session expired"
      >
        <Text size="sm" mb="md">
          Sign in again to continue. Your input is kept.
        </Text>
        <SignInForm session={session} back={location.pathname + location.search} onSignedIn={take} />
      </Modal>
    </>
  );
}

/** Above other dialogs, also those that open later, and below tooltips. */
const LAYER = 250;

/** One dialog for any number of refused calls. */
function useRenewal() {
  const [isAsking, setAsking] = useState(false);
  const waiting = useRef<PromiseWithResolvers<void>>(undefined);
  useEffect(() => {
    onSessionEnded(() => {
      waiting.current ??= Promise.withResolvers<void>();
      setAsking(true);
      return waiting.current.promise;
    });
  }, []);
  const done = (): void => {
    waiting.current?.resolve();
    waiting.current = undefined;
    setAsking(false);
  };
  return { isAsking, done };
}

function SignInPage({ session, onSignedIn }: { session: Session; onSignedIn: (session: Session) => void }) {
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
