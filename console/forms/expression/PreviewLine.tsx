/** The value of an expression with the last outputs, below its input, announced politely. */
import { Badge } from '@mantine/core';
import { IconAlertCircle, IconArrowRight, IconInfoCircle } from '@tabler/icons-react';
import classes from './Expression.module.css';
import type { Preview } from './preview.ts';

/** Shorter texts always fit. */
const LONG = 60;

export function PreviewLine({ id, preview }: { id: string; preview: Preview }) {
  return (
    <div id={id} aria-live="polite">
      {preview.kind !== 'plain' && (
        <div className={classes['preview']} data-brief={preview.kind === 'unfinished' || undefined}>
          {shown(preview)}
        </div>
      )}
    </div>
  );
}

function shown(preview: Preview) {
  switch (preview.kind) {
    case 'plain':
      return null;
    case 'value':
      return (
        <>
          {/* "true" or "false" beside a condition reads as if it were always so. */}
          {preview.type === 'boolean' && <span>With the last outputs or the test data:</span>}
          <IconArrowRight
            size={14}
            {...(preview.type === 'boolean'
              ? { 'aria-hidden': true }
              : { 'aria-label': 'Value with the last outputs or the test data:' })}
            style={{ flex: 'none', marginTop: 2 }}
          />
          <span
            className={classes['value']}
            // The label before it wraps instead.
            {...(preview.type === 'boolean' && { style: { flex: 'none' } })}
            // Long values scroll and therefore need the focus.
            {...(preview.text.length > LONG && { tabIndex: 0, role: 'group', 'aria-label': 'Value' })}
          >
            {preview.text === '' ? '(empty string)' : preview.text}
          </span>
          <Badge size="xs" variant="default" tt="none" fw={400} mt={2} style={{ flexShrink: 0 }}>
            {preview.type}
          </Badge>
        </>
      );
    case 'unfinished':
      return <Note title={preview.message}>{preview.message}</Note>;
    case 'unknown':
      return (
        <Note>
          Start a test run to preview the value: {preview.nodes.join(', ')}{' '}
          {preview.nodes.length === 1 ? 'has' : 'have'} no value yet.
        </Note>
      );
    case 'missing':
      return <Note>Fails with the last outputs or the test data: {preview.message}</Note>;
    case 'wrong':
      return (
        <span style={{ color: 'var(--mantine-color-error)', display: 'flex', gap: 6 }}>
          <IconAlertCircle size={14} aria-hidden style={{ flex: 'none', marginTop: 2 }} />
          {preview.message}
        </span>
      );
  }
}

function Note({ title, children }: { title?: string; children: React.ReactNode }) {
  return (
    <>
      <IconInfoCircle size={14} aria-hidden style={{ flex: 'none', marginTop: 2 }} />
      <span title={title}>{children}</span>
    </>
  );
}
