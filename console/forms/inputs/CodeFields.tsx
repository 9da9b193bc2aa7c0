/** Inputs for JSON and JavaScript. Invalid JSON stays the text of its field and is not applied. */
import { Input, SegmentedControl } from '@mantine/core';
import { useEffect, useId, useRef, useState } from 'react';
import { ExpressionInput } from '../expression/ExpressionInput.tsx';
import { jsonText, parsedOr, plainText, readJson } from '../json.ts';
import { mistakeIn } from '../values.ts';
import { LazyCode } from '../expression/LazyCode.tsx';
import { previewOf } from '../expression/preview.ts';
import { PreviewLine } from '../expression/PreviewLine.tsx';
import { useFormScope } from '../scope.ts';
import { shapesAfter } from '../shapes.ts';
import { useShapes } from '../useShapes.ts';
import { FieldLabel } from '../FieldLabel.tsx';
import type { InputProps } from '../props.ts';

/** Any value, or any object. */
export function FreeInput(props: InputProps<'json'>) {
  return props.field.editor.accepts === 'any' ? <AnyInput {...props} /> : <JsonInput {...props} />;
}

/** Any JSON value: plain text, or JSON. Both take references. */
function AnyInput(props: InputProps<'json'>) {
  const { field, path, value, onChange, error, isReadOnly } = props;
  const { unapplied } = useFormScope();
  const shapes = useShapes(path, 'text');
  const [isChosen, setText] = useState(() => {
    if (unapplied?.textAt(path) !== undefined) return false;
    return typeof value === 'string' || (value === undefined && shapes.get().chosen !== 'json');
  });
  // Undo and others may give the field a value that is no text.
  const isText = isChosen && (value === undefined || typeof value === 'string');
  const swap = (
    <SegmentedControl
      size="xs"
      value={isText ? 'text' : 'json'}
      onChange={(next) => {
        const invalid = unapplied?.textAt(path);
        const { text } = shapes.get().values;
        setText(next === 'text');
        unapplied?.keep(path, undefined);
        shapes.keep(shapesAfter(shapes.get(), { left: isText ? 'text' : 'json', value, chosen: next }));
        if (next === 'text' && invalid !== undefined) onChange(invalid);
        else if (value !== undefined) onChange(next === 'text' ? plainText(value, text) : parsedOr(value));
      }}
      data={[
        { value: 'text', label: 'Text' },
        { value: 'json', label: 'JSON' },
      ]}
      disabled={isReadOnly}
      aria-label={`${field.label} as`}
    />
  );
  if (!isText) return <JsonInput {...props} actions={swap} />;
  return (
    <ExpressionInput
      label={field.label}
      language="template"
      isMultiline
      value={typeof value === 'string' ? value : ''}
      onChange={onChange}
      isRequired={field.isRequired}
      error={error}
      actions={swap}
      {...(field.help !== undefined && { help: field.help })}
    />
  );
}

/** The gap that inputs of Mantine have and the code editor lacks. */
const BELOW_CODE = { mt: 5 } as const;

export function JsonInput(props: InputProps<'json'>) {
  const { field, path, value, onChange, error, isReadOnly, actions } = props;
  const { sources, unapplied } = useFormScope();
  const id = useId();
  const [text, setText] = useState(() => unapplied?.textAt(path) ?? jsonText(value));
  const { accepts } = field.editor;
  const read = readJson(text, accepts);
  const known = useRef(JSON.stringify(value));
  useEffect(() => {
    if (known.current === JSON.stringify(value)) return;
    known.current = JSON.stringify(value);
    const isTyped = read.ok && JSON.stringify(read.value) === JSON.stringify(value);
    // With the value, undo and redo bring back the text that was typed after it.
    if (!isTyped) setText(unapplied?.textAt(path) ?? jsonText(value));
    // Only external changes reset the text: typed text is the source.
  }, [JSON.stringify(value)]);
  const isDropped = unapplied !== undefined && unapplied.textAt(path) === undefined;
  useEffect(() => {
    // Somebody discarded the changes, or gave what has the field another form.
    if (isDropped) setText((typed) => (readJson(typed, accepts).ok ? typed : jsonText(value)));
  }, [isDropped]);
  return (
    <Input.Wrapper
      size="xs"
      label={
        actions === undefined ? (
          field.label
        ) : (
          <FieldLabel label={field.label} isRequired={field.isRequired} actions={actions} />
        )
      }
      labelElement="div"
      labelProps={{ style: { width: '100%' } }}
      description={field.help}
      withAsterisk={field.isRequired && actions === undefined}
      error={error ?? (read.ok ? undefined : read.message)}
      errorProps={BELOW_CODE}
    >
      <LazyCode
        id={`${id}-input`}
        label={field.label}
        describedBy={`${id}-preview`}
        value={text}
        onChange={(next) => {
          setText(next);
          const parsed = readJson(next, accepts);
          unapplied?.keep(path, parsed.ok ? undefined : { text: next, message: parsed.message });
          if (parsed.ok) onChange(parsed.value);
        }}
        language="json"
        isMultiline
        isReadOnly={isReadOnly}
        isInvalid={!read.ok || error !== undefined}
        placeholder={accepts === 'object' ? '{ }' : 'JSON'}
        sources={sources}
      />
      {field.isExpression && (
        <PreviewLine id={`${id}-preview`} preview={previewOf(read.ok ? read.value : '', sources)} />
      )}
    </Input.Wrapper>
  );
}

/** The source of a code node, with the position of its first error, or of the error in the shown run. */
export function JavaScriptInput({ field, value, onChange, error, isReadOnly }: InputProps<'javaScript'>) {
  const { sources, failure } = useFormScope();
  const id = useId();
  return (
    <Input.Wrapper
      size="xs"
      label={field.label}
      labelElement="div"
      description={field.help}
      withAsterisk={field.isRequired}
      error={error}
      errorProps={BELOW_CODE}
    >
      <LazyCode
        id={`${id}-input`}
        label={field.label}
        value={typeof value === 'string' ? value : ''}
        onChange={(next) => onChange(next === '' ? undefined : next)}
        language="javascript"
        isMultiline
        isReadOnly={isReadOnly}
        isInvalid={error !== undefined}
        sources={sources}
        mistake={mistakeIn(error ?? failure)}
      />
    </Input.Wrapper>
  );
}
