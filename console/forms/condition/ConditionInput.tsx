/**
 * A condition as rows or, one click away, in CEL; both with a preview with the last outputs. The rows are
 * written as CEL, and CEL of that form is read as rows.
 */
import { Box, Input, SegmentedControl, Skeleton, Text } from '@mantine/core';
import { Fragment, useEffect, useId, useState } from 'react';
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
  otherwise?: {
    isChosen: boolean;
    /** Why it cannot be chosen; undefined: it can. */
    obstacle: string | undefined;
    choose: (isChosen: boolean) => void;
    help: string;
  };
};

type Mode = 'rows' | 'cel' | 'otherwise';
type ReadModule = typeof import('./read.ts');

export function ConditionInput(props: Props) {
  const { label, without, value, onChange, error, isRequired = false, otherwise, ...asText } = props;
  const { sources } = useFormScope();
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
  // How the condition is shown is known once the module that reads it is loaded.
  const isLoading = read === undefined && rows === undefined && mode !== 'otherwise';
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
    <Modes
      label={`${label}, as`}
      mode={isLoading ? undefined : mode}
      hasRows={rows !== undefined}
      otherwise={otherwise}
      onChoose={choose}
    />
  );
  if (mode === 'cel' && !isLoading)
    return (
      <div>
        {modes}
        <CelInput {...{ label, value, onChange, error, isRequired, ...asText }} />
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
        {isLoading ? (
          <Skeleton height={roomOf(value)} />
        ) : mode === 'otherwise' ? (
          <Text size="xs" mt={8}>
            {otherwise?.help}
          </Text>
        ) : (
          <ConditionRows value={rows ?? NO_ROWS} onChange={change} without={without} />
        )}
        <Written value={value} />
        <PreviewLine id={`${id}-preview`} preview={preview} />
      </Input.Wrapper>
    </div>
  );
}

type ModesProps = {
  label: string;
  /** Undefined: it is not known yet. */
  mode: Mode | undefined;
  hasRows: boolean;
  otherwise: Props['otherwise'];
  onChoose: (mode: Mode) => void;
};

function Modes({ label, mode, hasRows, otherwise, onChoose }: ModesProps) {
  const { isReadOnly } = useFormScope();
  const id = useId();
  const obstacle = isReadOnly ? undefined : otherwise?.obstacle;
  const ofOtherwise = otherwise && {
    value: 'otherwise',
    label: 'Otherwise',
    disabled: otherwise.obstacle !== undefined,
  };
  return (
    <Box mb={8}>
      <SegmentedControl
        size="xs"
        aria-label={label}
        {...(obstacle !== undefined && { 'aria-describedby': id })}
        disabled={isReadOnly || mode === undefined}
        value={mode ?? ''}
        data={[
          { value: 'rows', label: 'Conditions', disabled: !hasRows && mode === 'cel' },
          ...(ofOtherwise ? [ofOtherwise] : []),
          { value: 'cel', label: 'CEL' },
        ]}
        onChange={(next) => onChoose(next as Mode)}
      />
      {!hasRows && mode === 'cel' && (
        <Text size="xs" c="dimmed" mt={4}>
          Conditions cannot show this expression.
        </Text>
      )}
      {obstacle !== undefined && (
        <Text size="xs" c="dimmed" mt={4} id={id}>
          {obstacle}
        </Text>
      )}
    </Box>
  );
}

/** The condition in CEL. A line does not end between `!` and its bracket. */
function Written({ value }: { value: string }) {
  if (value === '') return null;
  return (
    <Text c="dimmed" mt={8} className={classes['cel'] ?? ''}>
      {value.split('!(').map((part, at) => (
        <Fragment key={at}>
          {at > 0 && <span className={classes['unbroken']}>!(</span>}
          {part}
        </Fragment>
      ))}
    </Text>
  );
}

type CelProps = Omit<Props, 'otherwise' | 'without'>;

function CelInput({ placeholder, ...props }: CelProps) {
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
    </>
  );
}

/**
 * The heights of a row with its gap, of the note on an order of numbers, of the button below the rows, and of
 * the switch above several.
 */
const HEIGHTS = { row: 92, note: 27, add: 22, join: 38 };

/**
 * The height of the rows of a condition that is not read yet, about: what is below moves little. The test of
 * a field belongs to the row after it.
 */
function roomOf(value: string): number {
  const parts = value.split(/&&|\|\|/);
  const rows = Math.max(1, parts.filter((part) => !/has\(|hasValue\(/.test(part)).length);
  const note = /[^)] [<>]=? -?\d/.test(value) ? HEIGHTS.note : 0;
  return rows * HEIGHTS.row + note + HEIGHTS.add + (rows > 1 ? HEIGHTS.join : 0);
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
