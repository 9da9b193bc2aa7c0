/** A failure with its advice and a retry button. */
import { Alert, Button, List, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useRef } from 'react';
import { detailBeside, failureFrom, withoutLongValues } from '../http/failure.ts';
import { useFocusWhenGone } from './useFocusWhenGone.ts';

type Props = { error: unknown; onRetry?: () => void; title?: string };

export function FailureNote({ error, onRetry, title }: Props) {
  const failure = failureFrom(error);
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
      {failure.reason === 'Forbidden' ? (
        <>
          <Text size="sm">
            Ask an administrator for this permission, or choose another project at the top.
          </Text>
          <Text size="sm" component="details" mt={6} style={{ overflowWrap: 'anywhere' }}>
            <summary style={{ cursor: 'pointer' }}>Which permission</summary>
            {detailBeside(failure)}
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
      {onRetry && (
        <Button variant="default" mt="sm" onClick={onRetry}>
          Try again
        </Button>
      )}
    </Alert>
  );
}
