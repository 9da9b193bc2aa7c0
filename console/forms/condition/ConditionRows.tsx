/** A condition as rows: field, operator and value, of which all or one must hold. */
import { ActionIcon, Button, Group, SegmentedControl, Stack, Text } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { Fragment, useMemo } from 'react';
import { keepFocus } from '../../ui/keepFocus.ts';
import { useFormScope } from '../scope.ts';
import { FieldSelect } from './FieldSelect.tsx';
import { fieldsOf, type FieldChoice } from './fields.ts';
import { operatorOf, orderNote, printField, rowsNote, type Rows } from './rows.ts';
import { fitRow, OperatorSelect, ValueInput, withOperator, type RowDraft } from './RowInputs.tsx';
import classes from './condition.module.css';

export type RowsDraft = { join: Rows['join']; rows: readonly RowDraft[] };

/** A row before its field is chosen. */
export const EMPTY_ROW: RowDraft = { operator: 'equals' };

/** The rows that are complete. */
export function completeRows({ join, rows }: RowsDraft): Rows {
  return {
    join,
    rows: rows.flatMap(({ field, ...row }) => (field === undefined ? [] : [{ ...row, field }])),
  };
}

type Props = {
  value: RowsDraft;
  onChange: (value: RowsDraft) => void;
  /** What holds without a condition. */
  without: string;
};

export function ConditionRows({ value, onChange, without }: Props) {
  const { sources, isReadOnly } = useFormScope();
  const choices = useMemo(() => fieldsOf(sources), [sources]);
  const { join, rows } = value;
  const note = rowsNote(rows, without);
  const setRows = (next: readonly RowDraft[]) => onChange({ join, rows: next });
  return (
    <Stack gap={8} data-conditions>
      {rows.length > 1 && (
        <SegmentedControl
          size="xs"
          aria-label="Which rows must hold"
          disabled={isReadOnly}
          value={join}
          data={[
            { value: 'and', label: 'All of them (and)' },
            { value: 'or', label: 'Any of them (or)' },
          ]}
          onChange={(next) => onChange({ join: next === 'or' ? 'or' : 'and', rows })}
        />
      )}
      {rows.map((row, index) => (
        <Fragment key={index}>
          <RowInput
            name={rows.length === 1 ? '' : ` ${index + 1}`}
            row={row}
            choices={choices}
            onChange={(next) => setRows(rows.with(index, next))}
            onRemove={() => setRows(rows.toSpliced(index, 1))}
          />
          <Note text={orderNote(row)} />
        </Fragment>
      ))}
      <Note text={note} />
      {!isReadOnly && (
        <Button
          size="compact-xs"
          variant="subtle"
          leftSection={<IconPlus size={14} />}
          data-add
          style={{ alignSelf: 'flex-start' }}
          onClick={() => setRows([...rows, { ...EMPTY_ROW, ...lastField(rows) }])}
        >
          Add condition
        </Button>
      )}
    </Stack>
  );
}

function Note({ text }: { text: string | undefined }) {
  if (text === undefined) return null;
  return (
    <Text size="xs" c="dimmed">
      {text}
    </Text>
  );
}

/** The next row most likely is about the same field. */
function lastField(rows: readonly RowDraft[]): Pick<RowDraft, 'field'> {
  const field = rows.at(-1)?.field;
  return field === undefined ? {} : { field };
}

type RowProps = {
  name: string;
  row: RowDraft;
  choices: readonly FieldChoice[];
  onChange: (row: RowDraft) => void;
  onRemove: () => void;
};

function RowInput({ name, row, choices, onChange, onRemove }: RowProps) {
  const { isReadOnly } = useFormScope();
  const choice = row.field && choices.find(({ cel }) => cel === printField(row.field ?? []));
  return (
    <div className={classes['row']} role="group" aria-label={`Condition${name}`}>
      <FieldSelect
        label={`Field${name}`}
        field={row.field}
        choices={choices}
        onChange={(next) => onChange(fitRow({ ...row, field: next.field }, next))}
      />
      <Group gap={6} wrap="nowrap" align="flex-start">
        <OperatorSelect
          label={`Operator${name}`}
          row={row}
          type={choice?.type}
          onChange={(operator) => onChange(withOperator(row, operator))}
        />
        {operatorOf(row.operator).hasValue && (
          <ValueInput
            label={`Value${name}`}
            row={row}
            choice={choice}
            onChange={(value) => onChange({ ...row, value })}
          />
        )}
        {!isReadOnly && (
          <ActionIcon
            size={30}
            variant="subtle"
            color="gray"
            aria-label={`Remove condition${name}`}
            onClick={({ currentTarget }) =>
              keepFocus(currentTarget.closest('[data-conditions]'), onRemove, 'button[data-add]')
            }
          >
            <IconTrash size={16} />
          </ActionIcon>
        )}
      </Group>
    </div>
  );
}
