/** Copies a text to the clipboard and notifies the user. */
import { tellDone, tellFailure } from './tell.tsx';
import { ActionIcon, Code, Group, Tooltip } from '@mantine/core';
import { IconCopy } from '@tabler/icons-react';

/** `what` is what was copied, such as "value". */
export async function copyText(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    tellDone(`${capitalized(what)} copied`);
  } catch (error) {
    tellFailure(`Could not copy the ${what}`, error);
  }
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A text that is there to be copied. */
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
