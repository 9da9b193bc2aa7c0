/**
 * A condition as rows or, one click away, in CEL; both with a preview with the last outputs. The rows are
 * written as CEL, and CEL of that form is read as rows.
 */
import { Input, SegmentedControl, Text } from '@mantine/core';
import { useEffect, useId, useState } from 'react';
import { DocLink } from '../../docs/DocLink.tsx';
import { EXPRESSION_DOC } from '../../docs/links.ts';
import { ExpressionInput } from '../expression/ExpressionInput.tsx';
import { PreviewLine } from '../expression/PreviewLine.tsx';
import { usePreview } from '../expression/usePreview.ts';
import { useFormScope } from '../scope.ts';
import { completeRows, ConditionRows, EMPTY_ROW, type RowsDraft } from './ConditionRows.tsx';
import { printRows } from './rows.ts';
import classes from './condition.module.css';

type Props = {
  label: string;
  /** Of the condition as text. */
  help: string;
  /** What holds without a condition. */
  without: string;
  /** CEL; empty: no condition. */
  value: string;
  onChange: (value: string) => void;
  error: string | undefined;
  isRequired?: boolean;
  /** Of the condition as text. */
  placeholder?: string | undefined;
  /** What can be chosen instead of a condition. */
  otherwise?: { isChosen: boolean; canBeChosen: boolean; choose: (isChosen: boolean) => void; help: string };
};

type Mode = 'rows' | 'cel' | 'otherwise';
type ReadModule = typeof import('./read.ts');

export function ConditionInput(props: Props) {
  const { label, without, value, onChange, error, isRequired = false, otherwise, ...asText } = props;
  const { sources, isReadOnly } = useFormScope();
  const id = useId();
  const read = useReader();
  const [asked, setAsked] = useState<'rows' | 'cel'>();
  const [rows, setRows] = useRows(value, read);
  const preview = usePreview({ value, language: 'cel', isCondition: true, sources });
  const mode: Mode = modeOf({
    isOtherwise: otherwise?.isChosen === true,
    hasRows: rows !== undefined,
    asked,
  });
  if (read === undefined) return null;
  const change = (next: RowsDraft): void => {
    setRows(next);
    onChange(printRows(completeRows(next)) ?? '');
  };
  const choose = (next: Mode): void => {
    if (next === 'otherwise') return otherwise?.choose(true);
    if (mode === 'otherwise') otherwise?.choose(false);
    setAsked(next);
  };
  const modes = (
    <SegmentedControl
      size="xs"
      mb={8}
      aria-label={`${label}, as`}
      disabled={isReadOnly}
      value={mode}
      data={[
        { value: 'rows', label: 'Conditions', disabled: rows === undefined && mode === 'cel' },
        ...(otherwise === undefined
          ? []
          : [{ value: 'otherwise', label: 'Otherwise', disabled: !otherwise.canBeChosen }]),
        { value: 'cel', label: 'CEL' },
      ]}
      onChange={(next) => choose(next as Mode)}
    />
  );
  if (mode === 'cel')
    return (
      <div>
        {modes}
        <CelInput
          {...{ label, value, onChange, error, isRequired, ...asText }}
          hasRows={rows !== undefined}
        />
      </div>
    );
  return (
    <div>
      {modes}
      <Input.Wrapper
        size="xs"
        role="group"
        aria-label={label}
        label={label}
        labelElement="div"
        withAsterisk={isRequired}
        error={error}
      >
        {mode === 'otherwise' ? (
          <Text size="xs" mt={8}>
            {otherwise?.help}
          </Text>
        ) : (
          <ConditionRows value={rows ?? NO_ROWS} onChange={change} without={without} />
        )}
        {value !== '' && (
          <Text c="dimmed" mt={8} className={classes['cel'] ?? ''}>
            {value}
          </Text>
        )}
        <PreviewLine id={`${id}-preview`} preview={preview} />
      </Input.Wrapper>
    </div>
  );
}

type CelProps = Omit<Props, 'otherwise' | 'without'> & { hasRows: boolean };

function CelInput({ hasRows, placeholder, ...props }: CelProps) {
  return (
    <>
      <ExpressionInput
        {...props}
        language="cel"
        isCondition
        isMultiline
        {...(placeholder !== undefined && { placeholder })}
      />
      <DocLink to={EXPRESSION_DOC}>CEL, the language of conditions</DocLink>
      {!hasRows && (
        <Text size="xs" c="dimmed">
          This condition cannot be shown as rows.
        </Text>
      )}
    </>
  );
}

const NO_ROWS: RowsDraft = { join: 'and', rows: [] };
const FIRST_ROWS: RowsDraft = { join: 'and', rows: [EMPTY_ROW] };

type Given = { isOtherwise: boolean; hasRows: boolean; asked: 'rows' | 'cel' | undefined };

function modeOf({ isOtherwise, hasRows, asked }: Given): Mode {
  if (isOtherwise) return 'otherwise';
  return hasRows ? (asked ?? 'rows') : 'cel';
}

/** The rows of the condition, with those that are incomplete; undefined: it has another form. */
function useRows(
  value: string,
  read: ReadModule | undefined,
): [RowsDraft | undefined, (rows: RowsDraft) => void] {
  const [edited, setEdited] = useState<RowsDraft>(FIRST_ROWS);
  const isOwn = (printRows(completeRows(edited)) ?? '') === value;
  if (isOwn) return [edited, setEdited];
  return [value.trim() === '' ? FIRST_ROWS : read?.readRows(value), setEdited];
}

function useReader(): ReadModule | undefined {
  const [module, setModule] = useState<ReadModule>();
  useEffect(() => {
    let isHere = true;
    const load = async () => {
      const loaded = await import('./read.ts');
      if (isHere) setModule(loaded);
    };
    void load();
    return () => {
      isHere = false;
    };
  }, []);
  return module;
}
