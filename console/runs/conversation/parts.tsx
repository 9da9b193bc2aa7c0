/** What messages and tool calls consist of: a button that opens, and a text. */
import { UnstyledButton } from '@mantine/core';
import { IconChevronRight } from '@tabler/icons-react';
import { useLayoutEffect, useRef, useState, type ReactNode } from 'react';
import { visibleText } from '../../ui/visibleText.ts';
import classes from './Conversation.module.css';

type DisclosureProps = { isOpen: boolean; controls: string; onToggle: () => void; children: ReactNode };

/** A button that opens what it controls. */
export function Disclosure({ isOpen, controls, onToggle, children }: DisclosureProps) {
  return (
    <UnstyledButton
      className={classes['opener'] ?? ''}
      aria-expanded={isOpen}
      aria-controls={controls}
      onClick={onToggle}
    >
      <IconChevronRight
        size={14}
        aria-hidden
        className={classes['arrow'] ?? ''}
        data-open={isOpen || undefined}
      />
      {children}
    </UnstyledButton>
  );
}

/** A long text scrolls, also with the keyboard. Hidden characters are visible. */
export function PlainText({ text, label, isCode }: { text: string; label: string; isCode?: boolean }) {
  const box = useRef<HTMLDivElement>(null);
  const [isLong, setLong] = useState(false);
  useLayoutEffect(() => {
    const { scrollHeight = 0, clientHeight = 0 } = box.current ?? {};
    setLong(scrollHeight > clientHeight);
  }, [text]);
  return (
    <div
      ref={box}
      className={classes['text'] ?? ''}
      data-code={isCode || undefined}
      role="group"
      aria-label={label}
      tabIndex={isLong ? 0 : undefined}
    >
      {visibleText(text)}
    </div>
  );
}
