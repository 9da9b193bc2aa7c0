/** The code input. A plain text field takes its place until the editor is loaded. */
import { lazy, Suspense, useRef } from 'react';
import classes from './Expression.module.css';
import type { CodeProps } from './CodeInput.tsx';

const CodeInput = lazy(async () => ({ default: (await import('./CodeInput.tsx')).CodeInput }));

export function LazyCode(props: CodeProps) {
  const isFocused = useRef(false);
  return (
    <div
      className={classes['frame']}
      data-lines={props.isMultiline ? 'many' : 'one'}
      data-invalid={props.isInvalid || undefined}
      data-read-only={props.isReadOnly || undefined}
    >
      <Suspense fallback={<PlainInput {...props} onFocusChange={(is) => (isFocused.current = is)} />}>
        <CodeInput {...props} focusesFirst={props.focusesFirst === true || isFocused.current} />
      </Suspense>
    </div>
  );
}

function PlainInput(props: CodeProps & { onFocusChange: (isFocused: boolean) => void }) {
  return (
    <textarea
      id={props.id}
      className={classes['plain']}
      aria-label={props.label}
      aria-describedby={props.describedBy}
      rows={props.isMultiline ? 4 : 1}
      value={props.value}
      readOnly={props.isReadOnly}
      placeholder={props.placeholder}
      onChange={(event) => props.onChange(event.currentTarget.value)}
      onFocus={() => props.onFocusChange(true)}
      onBlur={() => props.onFocusChange(false)}
    />
  );
}
