/** The log of a code node. */
import { Code } from '@mantine/core';

/** Scrolls, also with the keyboard. */
export function LogText({ text }: { text: string }) {
  return (
    <Code block style={{ maxHeight: 240, overflow: 'auto' }} tabIndex={0} aria-label="Log">
      {text}
    </Code>
  );
}
