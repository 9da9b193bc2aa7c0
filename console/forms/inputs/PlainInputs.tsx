/** Inputs for simple values: text, numbers, choices, durations. */
import { Input, MultiSelect, Select, Switch, Textarea, TextInput } from '@mantine/core';
import type { Field } from '../fields.ts';
import { choiceLabel } from '../labels.ts';
import { scalarOf, scalarText } from '../values.ts';
import { FieldLabel } from '../FieldLabel.tsx';
import type { InputProps } from '../props.ts';
import { TypedNumberInput } from './TypedNumberInput.tsx';

type LineProps = Omit<InputProps<'text'>, 'field'> & {
  field: Omit<Field, 'editor'> & { editor: { kind: 'text' | 'duration' | 'scalar' } };
};

export function PlainTextInput(props: LineProps) {
  const { field, value, onChange, error, isReadOnly } = props;
  const isScalar = field.editor.kind === 'scalar';
  return (
    <TextInput
      {...wrapperOf(props)}
      value={isScalar ? scalarText(value) : textOf(value)}
      onChange={({ currentTarget }) =>
        onChange(isScalar ? scalarOf(currentTarget.value) : currentTarget.value)
      }
      placeholder={
        field.editor.kind === 'duration' ? (field.placeholder ?? 'for example 30s or 5m') : field.placeholder
      }
      error={error}
      readOnly={isReadOnly}
      spellCheck={false}
    />
  );
}

/** Text of several lines without references. */
export function LongTextInput(props: InputProps<'longText'>) {
  const { field, value, onChange, error, isReadOnly } = props;
  return (
    <Textarea
      {...wrapperOf(props)}
      value={typeof value === 'string' ? value : ''}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
      placeholder={field.placeholder}
      autosize
      minRows={2}
      maxRows={12}
      error={error}
      readOnly={isReadOnly}
    />
  );
}

export function PlainNumberInput(props: InputProps<'number'>) {
  const { field, value, onChange, error, isReadOnly } = props;
  const { isWhole, minimum, maximum } = field.editor;
  return (
    <TypedNumberInput
      {...wrapperOf(props)}
      value={value}
      onChange={onChange}
      placeholder={field.placeholder}
      allowDecimal={!isWhole}
      {...(minimum !== undefined && { min: minimum })}
      {...(maximum !== undefined && { max: maximum })}
      hideControls={isReadOnly}
      error={error}
      readOnly={isReadOnly}
    />
  );
}

export function BooleanInput({ field, value, onChange, error, isReadOnly, actions }: InputProps<'boolean'>) {
  const { isOnByDefault } = field.editor;
  return (
    <Input.Wrapper size="xs" error={error}>
      <div style={{ display: 'flex', gap: 8, alignItems: 'flex-start' }}>
        <Switch
          size="xs"
          label={field.label}
          description={field.help}
          checked={typeof value === 'boolean' ? value : isOnByDefault}
          disabled={isReadOnly}
          onChange={({ currentTarget: { checked } }) =>
            onChange(checked === isOnByDefault ? undefined : checked)
          }
          style={{ flex: 1 }}
        />
        {actions}
      </div>
    </Input.Wrapper>
  );
}

export function ChoiceInput(props: InputProps<'choice'>) {
  const { field, value, onChange, error, isReadOnly } = props;
  const given = typeof value === 'string' && value !== '' ? value : null;
  // What a manifest says is shown, even if it is not one of the options.
  const options = new Set([...field.editor.options, ...(given === null ? [] : [given])]);
  return (
    <Select
      {...wrapperOf(props)}
      data={[...options].map((option) => ({ value: option, label: choiceLabel(option) }))}
      value={given}
      onChange={(next) => onChange(next ?? undefined)}
      placeholder={field.placeholder === undefined ? 'Choose' : choiceLabel(field.placeholder)}
      clearable={!field.isRequired && !isReadOnly}
      error={error}
      readOnly={isReadOnly}
      comboboxProps={{ withinPortal: true }}
    />
  );
}

export function ChoicesInput(props: InputProps<'choices'>) {
  const { field, value, onChange, error, isReadOnly } = props;
  const chosen = Array.isArray(value) ? value.map(String) : [];
  return (
    <MultiSelect
      size="xs"
      {...wrapperOf(props)}
      data={field.editor.options.map((option) => ({ value: option, label: choiceLabel(option) }))}
      value={chosen}
      onChange={onChange}
      placeholder={chosen.length === 0 ? (field.placeholder ?? 'all') : ''}
      error={error}
      readOnly={isReadOnly}
    />
  );
}

/** The props that all inputs share: label, help, error. */
export function wrapperOf({
  field,
  actions,
}: Pick<InputProps<'text'>, 'actions'> & { field: { label: string; help?: string; isRequired: boolean } }) {
  return {
    label:
      actions === undefined ? (
        field.label
      ) : (
        <FieldLabel label={field.label} isRequired={field.isRequired} actions={actions} />
      ),
    description: field.help,
    withAsterisk: field.isRequired && actions === undefined,
    required: false,
    'aria-required': field.isRequired,
    ...(actions !== undefined && { 'aria-label': field.label, labelProps: { style: { width: '100%' } } }),
  };
}

function textOf(value: unknown): string {
  return value === undefined ? '' : scalarTextOf(value);
}

/** Values of a wrong type are shown too, so that users can fix them. */
function scalarTextOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
