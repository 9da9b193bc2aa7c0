/**
 * The input for one field: the one that fits its editor, or one for an expression, with what is wrong with the value below it. A fresh
 * field is not called wrong before somebody has been in it.
 */
import { ActionIcon, Tooltip } from '@mantine/core';
import { IconMathFunction } from '@tabler/icons-react';
import { useState, type ComponentProps, type ComponentType } from 'react';
import { durationProblem } from '../../api/duration.ts';
import { ExpressionInput } from './expression/ExpressionInput.tsx';
import type { Editor, Field } from './fields.ts';
import { FreeInput } from './inputs/CodeFields.tsx';
import { CredentialInput } from './inputs/CredentialInput.tsx';
import { CronInput } from './inputs/CronInput.tsx';
import { ModelInput } from './inputs/ModelInput.tsx';
import {
  BooleanInput,
  ChoiceInput,
  ChoicesInput,
  LongTextInput,
  PlainNumberInput,
  PlainTextInput,
} from './inputs/PlainInputs.tsx';
import type { InputProps } from './inputs/props.ts';
import { CelValuesInput } from './inputs/CelValuesInput.tsx';
import { SecretRefInput } from './inputs/SecretRefInput.tsx';
import { SkillInput } from './inputs/SkillInput.tsx';
import { ListInput, MapInput, ObjectInput, OneOfInput, ShapesInput } from './inputs/StructureInputs.tsx';
import { TimeZoneInput } from './inputs/TimeZoneInput.tsx';
import { ToolsInput } from './inputs/ToolsInput.tsx';
import { useFormScope } from './scope.ts';
import { REFERENCE_TYPE } from './expression/source.ts';
import { holdsReference, isNothing, problemsAt, scalarOf, scalarText } from './values.ts';

type Props = {
  field: Field;
  path: string;
  value: unknown;
  onChange: (value: unknown) => void;
  /** Without a label of its own. */
  isBare?: boolean;
  actions?: React.ReactNode;
};

export function FieldInput(props: Props) {
  const { field, path, value, onChange, isBare = false, actions } = props;
  const { isReadOnly, problems, showsAll } = useFormScope();
  const [wasIn, setWasIn] = useState(false);
  const [isWritten, setWritten] = useState(false);
  const error = problemOf(field, value, { path, problems, isAsked: showsAll || wasIn });
  const isText = isBare || writesText(field.editor, value);
  // While somebody types, the input stays the one that it is: another one would take the keys from them.
  const [held, setHeld] = useState<boolean>();
  const isExpression = held ?? (field.isExpression && (isText || isWritten || holdsReference(value)));
  const canToggle = field.isExpression && !isText && !isReadOnly;
  const swap = () => {
    setWritten(!isExpression);
    setHeld(undefined);
    if (isExpression && holdsReference(value)) onChange(undefined);
  };
  const take = (reference: string): void => {
    setHeld(undefined);
    onChange(`{{ ${reference} }}`);
  };
  const buttons = canToggle ? (
    <>
      {actions}
      <Toggle isWritten={isExpression} label={field.label} onClick={swap} />
    </>
  ) : (
    actions
  );
  const Input = isExpression ? WrittenInput : Plain;
  return (
    <div
      onFocus={() => setHeld(isExpression)}
      onBlur={() => {
        setWasIn(true);
        setHeld(undefined);
      }}
      data-field={path}
      {...(canToggle && !isExpression && dropOf(take))}
    >
      <Input {...{ field, path, value, onChange, error, isReadOnly, isBare, actions: buttons }} />
    </div>
  );
}

/** A reference that is dropped on an input that is no text takes its place. */
function dropOf(
  onReference: (reference: string) => void,
): Pick<ComponentProps<'div'>, 'onDrop' | 'onDragOver'> {
  return {
    onDragOver: (event) => {
      if (event.dataTransfer.types.includes(REFERENCE_TYPE)) event.preventDefault();
    },
    onDrop: (event) => {
      const reference = event.dataTransfer.getData(REFERENCE_TYPE);
      if (reference === '') return;
      event.preventDefault();
      onReference(reference);
    },
  };
}

type InputGiven = InputProps<Editor['kind']> & { isBare: boolean };

/** The value as a text with references. */
function WrittenInput({ field, value, onChange, error, isBare, actions }: InputGiven) {
  const isScalar = field.editor.kind === 'scalar';
  const text = typeof value === 'string' && !isScalar ? value : scalarText(value);
  return (
    <ExpressionInput
      label={field.label}
      value={text}
      onChange={(next) => onChange(next === '' ? undefined : isScalar ? scalarOf(next) : next)}
      language="template"
      isMultiline={field.editor.kind === 'longText'}
      isRequired={field.isRequired}
      isBare={isBare}
      error={error}
      actions={actions}
      {...(field.help !== undefined && { help: field.help })}
      {...(field.placeholder !== undefined && { placeholder: field.placeholder })}
    />
  );
}

/** Whether the value is a text anyway, so that references can be written right into it. */
function writesText(editor: Editor, value: unknown): boolean {
  if (editor.kind === 'text' || editor.kind === 'longText' || editor.kind === 'duration') return true;
  // Addresses may stand in one text with commas between.
  return editor.kind === 'list' && editor.item.kind === 'text' && !Array.isArray(value);
}

type Known = { path: string; problems: ReturnType<typeof useFormScope>['problems']; isAsked: boolean };

const NESTED: Editor['kind'][] = ['object', 'oneOf', 'map', 'shapes'];

function problemOf(
  { editor, isRequired, label }: Field,
  value: unknown,
  { path, problems, isAsked }: Known,
): string | undefined {
  if (!isAsked) return undefined;
  const isNested = NESTED.includes(editor.kind);
  const isLeaf = !isNested && !(editor.kind === 'list' && Array.isArray(value));
  const told = problemsAt(problems, path, isLeaf);
  if (told.length > 0) return told.join(' ');
  if (isRequired && isNothing(value) && !isNested) return `${label} is required.`;
  return typeof value === 'string' && value !== '' && !holdsReference(value)
    ? misfit(editor, value)
    : undefined;
}

/** What the schema has against a text. */
function misfit(editor: Editor, text: string): string | undefined {
  if (editor.kind === 'duration') {
    const { least, most } = editor.bounds;
    return durationProblem(text, editor.bounds) === undefined
      ? undefined
      : `Enter a number and a unit, for example 30s, 5m, 1h or 7d, from ${least} to ${most}.`;
  }
  if (editor.kind === 'text' && editor.pattern !== undefined && !new RegExp(editor.pattern, 'u').test(text))
    return 'This value is not allowed here. See the description above.';
  return undefined;
}

function Toggle({ isWritten, label, onClick }: { isWritten: boolean; label: string; onClick: () => void }) {
  const text = isWritten ? 'Use a fixed value' : 'Use an expression';
  return (
    <Tooltip label={text}>
      <ActionIcon
        size="xs"
        variant={isWritten ? 'light' : 'subtle'}
        color={isWritten ? undefined : 'gray'}
        aria-label={`${text} for ${label}`}
        aria-pressed={isWritten}
        onClick={onClick}
      >
        <IconMathFunction size={14} />
      </ActionIcon>
    </Tooltip>
  );
}

/** For each editor its input. */
const INPUTS: { [K in Editor['kind']]: ComponentType<InputProps<K>> } = {
  text: PlainTextInput,
  longText: LongTextInput,
  duration: PlainTextInput,
  scalar: PlainTextInput,
  number: PlainNumberInput,
  boolean: BooleanInput,
  choice: ChoiceInput,
  choices: ChoicesInput,
  list: ListInput,
  map: MapInput,
  object: ObjectInput,
  oneOf: OneOfInput,
  shapes: ShapesInput,
  json: FreeInput,
  secretRef: SecretRefInput,
  credential: CredentialInput,
  model: ModelInput,
  skill: SkillInput,
  tools: ToolsInput,
  cron: CronInput,
  timeZone: TimeZoneInput,
  celValues: CelValuesInput,
};

/** The input that fits the editor. */
function Plain({ isBare: _always, ...props }: InputGiven) {
  const Input = INPUTS[props.field.editor.kind] as ComponentType<InputProps<Editor['kind']>>;
  return <Input {...props} />;
}
