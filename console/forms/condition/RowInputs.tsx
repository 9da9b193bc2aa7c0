/** The inputs of a row beside its field: operator and value. */
import { Select, TextInput } from '@mantine/core';
import { useState } from 'react';
import { FITTING, FITTING_HEIGHT } from '../../ui/fitting.ts';
import { useFormScope } from '../scope.ts';
import type { FieldChoice } from './fields.ts';
import {
  isAllowed,
  OPERATOR_NAMES,
  operatorOf,
  valueFrom,
  valueProblem,
  valueType,
  type Operator,
  type Row,
} from './rows.ts';

/** A row whose field may not be chosen yet. */
export type RowDraft = Omit<Row, 'field'> & Partial<Pick<Row, 'field'>>;

/** The first operator for the type, if the row has none that fits. */
export function fitRow(row: RowDraft, { type, field }: FieldChoice): RowDraft {
  const { types } = operatorOf(row.operator);
  const fits =
    isAllowed(row.operator, field) && (types === undefined || type === undefined || types.includes(type));
  if (fits) return row;
  const operator = OPERATOR_NAMES.find((name) => operatorOf(name).types?.includes(type ?? '')) ?? 'equals';
  return withOperator(row, operator);
}

export function withOperator({ value, ...row }: RowDraft, operator: Operator): RowDraft {
  return operatorOf(operator).hasValue ? { ...row, operator, value: value ?? '' } : { ...row, operator };
}

type OperatorProps = {
  label: string;
  row: RowDraft;
  type: string | undefined;
  onChange: (operator: Operator) => void;
};

/** The operators for the type of the field come first. */
export function OperatorSelect({ label, row, type, onChange }: OperatorProps) {
  const { isReadOnly } = useFormScope();
  const names = OPERATOR_NAMES.filter((name) => row.field === undefined || isAllowed(name, row.field));
  const isFirst = (name: Operator) => {
    const { types } = operatorOf(name);
    // What is null now may be of any type.
    return type === undefined || type === 'null' || types === undefined || types.includes(type);
  };
  const item = (name: Operator) => ({ value: name, label: operatorOf(name).label });
  const others = names.filter((name) => !isFirst(name)).map(item);
  return (
    <Select
      size="xs"
      style={{ flex: '1 1 40%' }}
      aria-label={label}
      allowDeselect={false}
      readOnly={isReadOnly}
      maxDropdownHeight={FITTING_HEIGHT}
      comboboxProps={{ middlewares: FITTING }}
      value={row.operator}
      data={[
        ...names.filter(isFirst).map(item),
        ...(others.length > 0 ? [{ group: 'For other types', items: others }] : []),
      ]}
      onChange={(next) => onChange(next ?? 'equals')}
    />
  );
}

type ValueProps = {
  label: string;
  row: RowDraft;
  /** Undefined: nothing is known of the field. */
  choice: FieldChoice | undefined;
  onChange: (value: string | number) => void;
};

export function ValueInput({ label, row, choice, onChange }: ValueProps) {
  const { isReadOnly } = useFormScope();
  const { value } = row;
  const sample = choice?.sample;
  const type = valueType(row.operator, choice?.type);
  // Keeps what is typed: `1.` and `1.0` are the same number.
  const [typed, setTyped] = useState(String(value ?? ''));
  const shown = valueFrom(typed, type, value) === (value ?? '') ? typed : String(value ?? '');
  return (
    <TextInput
      size="xs"
      style={{ flex: '1 1 40%' }}
      aria-label={label}
      readOnly={isReadOnly}
      spellCheck={false}
      value={shown}
      error={valueProblem(row, choice?.type)}
      {...(sample !== undefined && sample !== '' && { placeholder: `Like ${sample}` })}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value);
        onChange(valueFrom(currentTarget.value, type, value));
      }}
    />
  );
}
