/** The failure of a node or run: its reason, meaning and advice. */
import { Alert, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { DocLink } from '../docs/DocLink.tsx';
import { reasonDoc } from '../docs/links.ts';
import { adviceOn } from './advice.ts';
import { failureText } from './live/failureText.ts';

type Props = {
  title: string;
  color?: 'red' | 'gray';
  reason?: string | undefined;
  message?: string | undefined;
  children?: ReactNode;
};

export function FailureOf({ title, color = 'red', reason, message, children }: Props) {
  const advice = adviceOn(reason);
  return (
    <Alert color={color} variant="light" p="sm" icon={<IconAlertTriangle />} title={title}>
      {message !== undefined && message !== '' && (
        <Text size="sm" style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
          {failureText(message)}
        </Text>
      )}
      {advice !== undefined && (
        <Text size="sm" mt={4}>
          <b>{reason}</b>: {advice.meaning} {advice.todo}{' '}
          <DocLink to={reasonDoc(reason ?? '')}>Documentation</DocLink>
        </Text>
      )}
      {children}
    </Alert>
  );
}
