/** An input for a text with references or for CEL: completion, a preview of the value below it, references by drag or from a tree. */
import { Input } from '@mantine/core';
import { useId, useRef, useState } from 'react';
import { FieldLabel } from '../FieldLabel.tsx';
import { useFormScope } from '../scope.ts';
import type { CodeHandle, CodeProps } from './CodeInput.tsx';
import { InsertReference } from './InsertReference.tsx';
import { LazyCode } from './LazyCode.tsx';
import { whileWriting } from './preview.ts';
import { PreviewLine } from './PreviewLine.tsx';
import { usePreview } from './usePreview.ts';

type Props = {
  label: string;
  value: string;
  onChange: (text: string) => void;
  language: 'template' | 'cel';
  isMultiline?: boolean;
  /** CEL that must be true or false. */
  isCondition?: boolean;
  help?: string;
  isRequired?: boolean;
  error?: string | undefined;
  placeholder?: string;
  /** Without a visible label, where a row of a list already has one. */
  isBare?: boolean;
  /** Beside the label. */
  actions?: React.ReactNode;
  onBlur?: () => void;
};

export function ExpressionInput(props: Props) {
  const {
    label,
    value,
    onChange,
    language,
    isMultiline = false,
    isCondition = false,
    isBare = false,
  } = props;
  const { sources, isReadOnly } = useFormScope();
  const [isFocused, setFocused] = useState(false);
  const handle = useRef<CodeHandle>(null);
  const id = useId();
  const preview = usePreview({ value, language, isCondition, sources });
  const shown = whileWriting(preview, isFocused);
  const code: CodeProps = {
    id: `${id}-input`,
    label,
    describedBy: `${id}-preview`,
    value,
    onChange,
    language,
    isMultiline,
    isReadOnly,
    isInvalid: props.error !== undefined || shown.kind === 'wrong',
    sources,
    handle,
    ...(props.placeholder !== undefined && { placeholder: props.placeholder }),
  };
  const buttons = (
    <>
      {props.actions}
      <InsertReference label={label} onInsert={(text) => handle.current?.insert(text)} />
    </>
  );
  return (
    <Input.Wrapper
      size="xs"
      {...(!isBare && {
        label: <FieldLabel label={label} isRequired={props.isRequired === true} actions={buttons} />,
      })}
      {...(!isBare && props.help !== undefined && { description: props.help })}
      error={props.error}
      labelElement="div"
      styles={{ label: { display: 'block', width: '100%' } }}
      onFocus={() => setFocused(true)}
      onBlur={() => {
        setFocused(false);
        props.onBlur?.();
      }}
    >
      <LazyCode {...code} />
      <PreviewLine id={`${id}-preview`} preview={shown} />
    </Input.Wrapper>
  );
}
