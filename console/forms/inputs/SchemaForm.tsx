/**
 * A form for an object, made of its fields: required and common fields and those with a value first, the rest
 * under "More fields". Each field gets the input of its editor, or one for an expression. Errors appear
 * after the first visit to a field.
 */
import { ActionIcon, Button, Collapse, Stack, Tooltip } from '@mantine/core';
import { IconChevronDown, IconChevronRight, IconMathFunction } from '@tabler/icons-react';
import { useState, type ComponentProps, type ComponentType } from 'react';
import { ExpressionInput } from '../expression/ExpressionInput.tsx';
import type { Editor, Field } from '../fields.ts';
import { fieldProblem } from '../fieldProblem.ts';
import { fixedValue } from '../expression/fixedValue.ts';
import type { FieldInputProps, InputProps, SchemaFormProps } from '../props.ts';
import { SiblingsContext, useFormScope } from '../scope.ts';
import { useShapes } from '../useShapes.ts';
import { REFERENCE_TYPE } from '../source.ts';
import { holdsReference, isNothing, problemsAt, scalarOf, scalarText, withMember } from '../values.ts';
import { CelConditionInput, CelValuesInput } from './CelValuesInput.tsx';
import { FreeInput, JavaScriptInput } from './CodeFields.tsx';
import { CronInput } from './CronInput.tsx';
import { ModelInput, SecretRefInput, SkillInput, TimeZoneInput } from './SelectInputs.tsx';
import {
  BooleanInput,
  ChoiceInput,
  ChoicesInput,
  LongTextInput,
  PlainNumberInput,
  PlainTextInput,
} from './PlainInputs.tsx';
import { ListInput, MapInput, ObjectInput, OneOfInput, ShapesInput } from './StructureInputs.tsx';
import { ToolsInput } from './ToolsInput.tsx';
import { afterPress } from '../../ui/afterPress.ts';
import { keepFocus } from '../../ui/keepFocus.ts';
import { WorkflowInput } from './WorkflowInput.tsx';

/** Up to so many optional fields are shown at once. */
const FEW = 2;

export function SchemaForm({ fields, path, values, onChange, isFlat = false }: SchemaFormProps) {
  const { problems } = useFormScope();
  const [isOpen, setOpen] = useState(false);
  // Decided once, so that fields do not move while the user types.
  const [given] = useState(() => new Set(Object.keys(values)));
  const optional = fields.filter(({ isRequired }) => !isRequired);
  const isShown = ({ name, isRequired, isCommon }: Field) =>
    isFlat ||
    isRequired ||
    isCommon ||
    given.has(name) ||
    optional.length <= FEW ||
    problemsAt(problems, `${path}.${name}`, true).length > 0;
  const input = (field: Field) => (
    <FieldInput
      key={field.name}
      field={field}
      path={path === '' ? field.name : `${path}.${field.name}`}
      value={values[field.name]}
      onChange={(value) => onChange(withMember(values, field.name, value))}
    />
  );
  const rest = fields.filter((field) => !isShown(field));
  return (
    <SiblingsContext value={values}>
      <Stack gap="sm">
        {fields.filter(isShown).map(input)}
        {rest.length > 0 && (
          <Button
            variant="subtle"
            color="gray"
            size="compact-sm"
            aria-expanded={isOpen}
            leftSection={isOpen ? <IconChevronDown size={14} /> : <IconChevronRight size={14} />}
            onClick={() => setOpen(!isOpen)}
            style={{ alignSelf: 'flex-start' }}
          >
            More fields ({rest.length})
          </Button>
        )}
        <Collapse expanded={isOpen}>
          <Stack gap="sm">{isOpen && rest.map(input)}</Stack>
        </Collapse>
      </Stack>
    </SiblingsContext>
  );
}

function FieldInput(props: FieldInputProps) {
  const { field, path, value, onChange, isBare = false, actions } = props;
  const { isReadOnly, problems, showsAll, sources, unapplied } = useFormScope();
  const shapes = useShapes(path, 'expression');
  const [wasIn, setWasIn] = useState(false);
  const [isWritten, setWritten] = useState(false);
  const error = fieldProblem(field, value, { path, problems, isAsked: showsAll || wasIn });
  const takes = whereExpressionsGo(field.editor, value, isBare);
  // While the user types, the input stays the same: another one would lose the focus.
  const [locked, setLocked] = useState<boolean>();
  const isExpression =
    locked ??
    (field.isExpression &&
      (takes === 'as text' || (takes === 'instead' && (isWritten || holdsReference(value)))));
  const canToggle = takes === 'instead' && !isReadOnly && hasToggle(field, isExpression);
  const swap = () => {
    setWritten(!isExpression);
    setLocked(undefined);
    unapplied?.keep(path, undefined);
    const { values: before } = shapes.get();
    if (!isExpression) {
      shapes.keep({ values: { ...before, fixed: value } });
      if (before['expression'] !== undefined) onChange(before['expression']);
    } else if (typeof value === 'string' && holdsReference(value)) {
      shapes.keep({ values: { ...before, expression: value } });
      onChange(before['fixed'] ?? fixedValue(field.editor, value, sources));
    }
  };
  const take = (reference: string): void => {
    setLocked(undefined);
    unapplied?.keep(path, undefined);
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
      onFocus={() => setLocked(isExpression)}
      onBlur={({ currentTarget, relatedTarget }) => {
        if (isOfField(currentTarget, relatedTarget)) return;
        afterPress(() => {
          setWasIn(true);
          setLocked(undefined);
        });
      }}
      data-field={path}
      data-missing={isMissing(props, isReadOnly)}
      {...(canToggle && !isExpression && dropOf(take))}
    >
      <Input {...{ field, path, value, onChange, error, isReadOnly, isBare, actions: buttons }} />
    </div>
  );
}

/** Whether it is in the field, or in what the field opened, such as the choice of a reference. */
function isOfField(field: Element, element: Element | null): boolean {
  return field.contains(element) || (element?.closest('[data-portal]') ?? null) !== null;
}

/** Whether the user has to fill it in; undefined: no. */
function isMissing({ field, value }: FieldInputProps, isReadOnly: boolean): true | undefined {
  return (field.isRequired && isNothing(value) && !isReadOnly) || undefined;
}

/** A reference dropped on a non-text input replaces its value. */
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

/** Of a field with several shapes, the one that is shown has the button. */
function hasToggle({ isExpression: takesOne, editor }: Field, isExpression: boolean): boolean {
  return takesOne && (editor.kind !== 'shapes' || isExpression);
}

/**
 * Where an expression is written: in the text that the value is, in the input of the editor, which has text
 * and JSON, or in an input instead of the one for a fixed value.
 */
function whereExpressionsGo(
  editor: Editor,
  value: unknown,
  isBare: boolean,
): 'as text' | 'inside' | 'instead' {
  if (isBare || writesText(editor, value)) return 'as text';
  return editor.kind === 'json' && editor.accepts === 'any' ? 'inside' : 'instead';
}

/** Whether references can be typed into the value directly. */
function writesText(editor: Editor, value: unknown): boolean {
  if (editor.kind === 'text' || editor.kind === 'longText' || editor.kind === 'duration') return true;
  // Addresses may be one text separated by commas.
  return editor.kind === 'list' && editor.item.kind === 'text' && !Array.isArray(value);
}

/** What gets the focus after the input was replaced: the button that did it, or else the new input. */
const AFTER_TOGGLE = ['[data-toggle]', 'textarea, input, [contenteditable=true]'];

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
        data-toggle
        onClick={({ currentTarget }) =>
          keepFocus(currentTarget.closest('[data-field]'), onClick, ...AFTER_TOGGLE)
        }
      >
        <IconMathFunction size={14} />
      </ActionIcon>
    </Tooltip>
  );
}

function ScopedCredentialInput(props: InputProps<'credential'>) {
  const { CredentialInput } = useFormScope();
  return <CredentialInput {...props} />;
}

/**
 * The input of each editor. Nested inputs get the components that render their fields, so that imports stay
 * acyclic.
 */
const INPUTS: { [K in Editor['kind']]: ComponentType<InputProps<K>> } = {
  text: PlainTextInput,
  longText: LongTextInput,
  duration: PlainTextInput,
  scalar: PlainTextInput,
  number: PlainNumberInput,
  boolean: BooleanInput,
  choice: ChoiceInput,
  choices: ChoicesInput,
  list: (props) => <ListInput {...props} Field={FieldInput} />,
  map: (props) => <MapInput {...props} Field={FieldInput} />,
  object: (props) => <ObjectInput {...props} Field={FieldInput} />,
  oneOf: (props) => <OneOfInput {...props} Field={FieldInput} />,
  shapes: (props) => <ShapesInput {...props} Field={FieldInput} />,
  json: FreeInput,
  secretRef: SecretRefInput,
  credential: ScopedCredentialInput,
  model: ModelInput,
  workflow: WorkflowInput,
  skill: SkillInput,
  tools: (props) => <ToolsInput {...props} Form={SchemaForm} />,
  cron: CronInput,
  timeZone: TimeZoneInput,
  celValues: CelValuesInput,
  celCondition: CelConditionInput,
  javaScript: JavaScriptInput,
};

function Plain({ isBare: _always, ...props }: InputGiven) {
  const Input = INPUTS[props.field.editor.kind] as ComponentType<InputProps<Editor['kind']>>;
  return <Input {...props} />;
}
