/** Copies text to the clipboard. */
import { capitalized } from './format.ts';
import { notifySuccess, notifyFailure } from './notify.tsx';
import { ActionIcon, Code, Group, Text, Tooltip } from '@mantine/core';
import { IconCopy } from '@tabler/icons-react';
import { Fragment } from 'react';

/** Notifies the user; `what` names the copied text, such as "value". */
export async function copyText(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    notifySuccess(`${capitalized(what)} copied`);
  } catch (error) {
    notifyFailure(`Could not copy the ${what}`, error);
  }
}

type Props = {
  text: string;
  /** The name of the text, such as "URL". */
  what: string;
};

/** Lines of URLs and commands break after these signs rather than within a word. */
function partsOf(text: string): string[] {
  return text.split(/(?<=[^:/][/?&,])(?!\/)/);
}

/** Text with a copy button. */
export function CopyLine({ text, what }: Props) {
  return (
    <Group gap={4} wrap="nowrap" align="flex-start">
      <Code
        block
        color="var(--mantine-color-default-hover)"
        style={{ flex: 1, minWidth: 0, whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}
        fz="xs"
      >
        {partsOf(text).map((part, at) => (
          <Fragment key={at}>
            {at > 0 && <wbr />}
            {part}
          </Fragment>
        ))}
      </Code>
      <Tooltip label={`Copy ${what}`}>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={`Copy ${what}`}
          // In the middle of the first line.
          mt={5}
          onClick={() => void copyText(text, what)}
        >
          <IconCopy size={16} />
        </ActionIcon>
      </Tooltip>
    </Group>
  );
}

/** Text with a copy button, below a label. */
export function LabeledCopyLine({ label, ...line }: Props & { label: string }) {
  return (
    <div>
      <Text size="xs" fw={600}>
        {label}
      </Text>
      <CopyLine {...line} />
    </div>
  );
}
