/** Signs in with a token or through OpenID Connect. */
import { Alert, Anchor, Button, Divider, PasswordInput, Stack, Text } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { failureFrom, type ApiFailure } from '../http/failure.ts';
import { CopyLine } from '../ui/copy.tsx';
import { oidcStart, signIn, tokenText, type Session } from './session.ts';

const TOKEN_COMMAND = 'kubectl create token <account> \\\n  -n <namespace> --duration 8h';

type Props = { session: Session; back: string; onSignedIn: (session: Session) => void };

export function SignInForm({ session, back, onSignedIn }: Props) {
  const [token, setToken] = useState('');
  const [failure, setFailure] = useState<ApiFailure>();
  const [isBusy, setBusy] = useState(false);

  const submit = async (): Promise<void> => {
    setBusy(true);
    setFailure(undefined);
    try {
      onSignedIn(await signIn(tokenText(token)));
    } catch (error) {
      setFailure(failureFrom(error));
    } finally {
      setBusy(false);
    }
  };
  const onSubmit = (event: FormEvent): void => {
    event.preventDefault();
    void submit();
  };

  return (
    <Stack gap="md">
      {session.oidc !== null && (
        <>
          <Button component="a" href={oidcStart(back)} size="sm" fullWidth>
            Sign in with {session.oidc.label}
          </Button>
          <Divider label="or use a token" />
        </>
      )}
      <form onSubmit={onSubmit}>
        <Stack gap="sm">
          <PasswordInput
            label="Token"
            description="A bearer token for the cluster. It is stored encrypted in a cookie of this browser."
            size="sm"
            value={token}
            onChange={(event) => setToken(event.currentTarget.value)}
            error={failure && `${failure.title}. ${failure.detail}`}
            autoComplete="off"
            spellCheck={false}
            data-autofocus
            autoFocus
          />
          <Button type="submit" size="sm" loading={isBusy} disabled={tokenText(token) === ''} fullWidth>
            Sign in
          </Button>
        </Stack>
      </form>
      <Alert variant="light" color="gray" title="How do I get a token?">
        <Text size="sm" mb={6}>
          Create a token of a service account that may edit workflows in your project:
        </Text>
        <CopyLine text={TOKEN_COMMAND} what="command" />
        <Text size="sm" mt={6}>
          The{' '}
          <Anchor
            href="https://kubernetes.io/docs/reference/access-authn-authz/rbac/"
            target="_blank"
            rel="noreferrer"
            td="underline"
          >
            RBAC
          </Anchor>{' '}
          permissions of that account apply.
        </Text>
      </Alert>
    </Stack>
  );
}
