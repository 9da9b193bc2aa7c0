/** A failure with its advice and a retry button. */
import { Alert, Button, Group, List, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useRef } from 'react';
import { detailBeside, failureFrom, missingPermission, withoutLongValues } from '../http/failure.ts';
import { copyText } from './copy.tsx';
import { useFocusWhenGone } from './useFocusWhenGone.ts';

type Props = { error: unknown; onRetry?: () => void; title?: string };

export function FailureNote({ error, onRetry, title }: Props) {
  const failure = failureFrom(error);
  const isForbidden = failure.reason === 'Forbidden';
  const permission = missingPermission(failure);
  const note = useRef<HTMLDivElement>(null);
  useFocusWhenGone(note);
  return (
    <Alert
      ref={note}
      color="red"
      variant="light"
      icon={<IconAlertTriangle />}
      title={title ?? failure.title}
      role="alert"
    >
      {title !== undefined && <Text size="sm">{failure.title}.</Text>}
      {isForbidden ? (
        <>
          <Text size="sm">
            Ask an administrator for this permission, or choose another project at the top.
          </Text>
          <Text size="sm" mt={6} style={{ overflowWrap: 'anywhere' }}>
            {permission === undefined ? detailBeside(failure) : `Missing permission: ${permission}`}
          </Text>
        </>
      ) : (
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {detailBeside(failure)}
        </Text>
      )}
      {failure.causes.length > 1 && (
        <List size="sm" mt="xs" style={{ overflowWrap: 'anywhere' }}>
          {failure.causes.map(({ field, message }) => (
            <List.Item key={`${field} ${message}`}>
              {field}: {withoutLongValues(message)}
            </List.Item>
          ))}
        </List>
      )}
      {(onRetry !== undefined || isForbidden) && (
        <Group gap="xs" mt="sm">
          {onRetry && (
            <Button variant="default" onClick={onRetry}>
              Try again
            </Button>
          )}
          {isForbidden && (
            <Button variant="default" onClick={() => void copyText(failure.detail, 'message')}>
              Copy for an administrator
            </Button>
          )}
        </Group>
      )}
    </Alert>
  );
}
