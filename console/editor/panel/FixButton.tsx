/** Opens "Help me build" with an error. Hidden from those who cannot use it. */
import { Button } from '@mantine/core';
import { IconSparkles } from '@tabler/icons-react';
import { openBuild } from '../../workflows/buildRequests.ts';
import { useMayBuild } from '../store/rights.ts';

/** `text`: what the model is asked to do. `onOpen`: called before the drawer opens. */
export function FixButton({ text, label, onOpen }: { text: string; label: string; onOpen?: () => void }) {
  const mayBuild = useMayBuild();
  if (!mayBuild) return null;
  return (
    <Button
      variant="default"
      mt="xs"
      // In two lines where there is little room.
      maw="100%"
      h="auto"
      mih={30}
      py={4}
      styles={{ label: { whiteSpace: 'normal', textAlign: 'left', lineHeight: 1.3 } }}
      leftSection={<IconSparkles size={14} />}
      onClick={() => {
        onOpen?.();
        openBuild(text);
      }}
    >
      {label}
    </Button>
  );
}

/** The message of a provider may be long, and hostile: it is quoted, and bounded. */
const LONGEST = 2_000;

/** What the model is asked about a failed node. */
export function fixText(
  node: string,
  { reason = '', message = '' }: { reason?: string | undefined; message?: string | undefined },
): string {
  return `Fix this error of node ${node}.\n${reason}: ${JSON.stringify(message.slice(0, LONGEST))}`;
}
