/** A text that is there to be copied. */
import { ActionIcon, Code, Group, Tooltip } from '@mantine/core';
import { IconCopy } from '@tabler/icons-react';
import { copyText } from './copy.tsx';

type Props = {
  text: string;
  /** What it is, such as "URL". */
  what: string;
};

export function CopyLine({ text, what }: Props) {
  return (
    <Group gap={4} wrap="nowrap" align="flex-start">
      <Code
        block
        color="var(--mantine-color-default-hover)"
        style={{ flex: 1, minWidth: 0, whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}
        fz="xs"
      >
        {text}
      </Code>
      <Tooltip label={`Copy ${what}`}>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={`Copy ${what}`}
          onClick={() => void copyText(text, what)}
        >
          <IconCopy size={16} />
        </ActionIcon>
      </Tooltip>
    </Group>
  );
}
