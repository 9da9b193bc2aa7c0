/** Inputs for lists, maps, objects, exclusive options and values of several shapes. */
import { Fieldset, Group, Input, SegmentedControl, Select, Stack, TagsInput, TextInput } from '@mantine/core';
import { useRef, useState, type ComponentType } from 'react';
import { flushSync } from 'react-dom';
import type { Editor, Field } from '../fields.ts';
import {
  isNothing,
  namedValues,
  scalarOf,
  scalarText,
  shownRows,
  valuesOf,
  withMember,
  type Rows,
} from '../values.ts';
import { AddButton, Framed, RemoveButton } from './Framed.tsx';
import { wrapperOf } from './PlainInputs.tsx';
import type { FieldInputProps, InputProps } from '../props.ts';
import { useFormScope } from '../scope.ts';
import { shapesAfter } from '../shapes.ts';
import { useShapes } from '../useShapes.ts';
import classes from './namedRows.module.css';

/** `Field` renders the fields of the structure. */
type Nested<K extends Editor['kind']> = InputProps<K> & { Field: ComponentType<FieldInputProps> };

/** Short values without references are tags. Others have their own inputs. */
export function ListInput(props: Nested<'list'>) {
  const { editor, isExpression } = props.field;
  const isTags = editor.item.kind === 'scalar' || (editor.item.kind === 'text' && !isExpression);
  return isTags ? <TagListInput {...props} /> : <RowListInput {...props} />;
}

function TagListInput(props: InputProps<'list'>) {
  const { field, value, onChange, error, isReadOnly } = props;
  const tags = Array.isArray(value) ? value.map(scalarText) : [];
  const isText = field.editor.item.kind === 'text';
  return (
    <TagsInput
      size="xs"
      {...wrapperOf(props)}
      value={tags}
      onChange={(next) => onChange(isText ? next : next.map(scalarOf))}
      placeholder={tags.length === 0 ? (field.placeholder ?? 'Type a value and press Enter') : ''}
      acceptValueOnBlur
      splitChars={[',']}
      error={error}
      readOnly={isReadOnly}
    />
  );
}

function RowListInput({ Field, field, path, value, onChange, error, isReadOnly, actions }: Nested<'list'>) {
  const items: unknown[] = Array.isArray(value) ? value : [];
  const item = (index: number): Field => ({
    name: String(index),
    label: `${field.label} ${index + 1}`,
    isRequired: true,
    isExpression: field.isExpression,
    editor: field.editor.item,
  });
  return (
    <Framed field={field} error={error} actions={actions}>
      {items.map((element, index) => (
        <Group key={index} gap={6} align="flex-end" wrap="nowrap">
          <div style={{ flex: 1, minWidth: 0 }}>
            <Field
              field={item(index)}
              path={`${path}[${index}]`}
              value={element}
              onChange={(next) => onChange(items.with(index, next ?? emptyOf(field.editor.item)))}
            />
          </div>
          {!isReadOnly && (
            <RemoveButton
              label={`Remove ${field.label} ${index + 1}`}
              onClick={() => onChange(items.toSpliced(index, 1))}
            />
          )}
        </Group>
      ))}
      {!isReadOnly && (
        <AddButton
          label={`Add to ${field.label}`}
          onClick={() => onChange([...items, emptyOf(field.editor.item)])}
        />
      )}
    </Framed>
  );
}

/** The initial value of a new element. */
function emptyOf({ kind }: Editor): unknown {
  if (kind === 'object' || kind === 'secretRef' || kind === 'oneOf' || kind === 'map') return {};
  return kind === 'json' ? null : '';
}

export function MapInput({ Field, field, path, value, onChange, error, isReadOnly, actions }: Nested<'map'>) {
  const [typed, setTyped] = useState<Rows>([]);
  const shown = shownRows(typed, value);
  const [added, setAdded] = useState<number>();
  const change = (next: Rows) => {
    setTyped(next);
    onChange(namedValues(next));
  };
  return (
    <Framed field={field} error={error} actions={actions}>
      {shown.map(([name, member], index) => (
        <div key={index} className={classes[field.isExpression ? 'row' : 'line']}>
          <TextInput
            aria-label={`${field.label}: name ${index + 1}`}
            placeholder="Name"
            value={name}
            readOnly={isReadOnly}
            spellCheck={false}
            autoFocus={index === added}
            error={
              name !== '' && shown.some(([other], at) => other === name && at !== index)
                ? 'Used twice.'
                : undefined
            }
            onChange={({ currentTarget }) => change(shown.with(index, [currentTarget.value, member]))}
          />
          <div className={classes['expression']}>
            <Field
              field={{ ...memberField(field, name), editor: field.editor.value }}
              path={`${path}.${name}`}
              value={member}
              onChange={(next) => change(shown.with(index, [name, next ?? '']))}
              isBare
            />
          </div>
          {!isReadOnly && (
            <RemoveButton
              label={`Remove ${name || `row ${index + 1}`}`}
              onClick={() => change(shown.toSpliced(index, 1))}
            />
          )}
        </div>
      ))}
      {!isReadOnly && (
        <AddButton
          label={`Add to ${field.label}`}
          onClick={() => {
            setTyped([...shown, ['', '']]);
            setAdded(shown.length);
          }}
        />
      )}
    </Framed>
  );
}

function memberField({ label, isExpression }: Omit<Field, 'editor'>, name: string) {
  return { name, label: `${label}: ${name || 'value'}`, isRequired: false, isExpression };
}

/** The fields of an optional object are shown when it is added. */
export function ObjectInput(props: Nested<'object'>) {
  const { Field, field, path, value, onChange, error, isReadOnly, actions } = props;
  const [isAdded, setAdded] = useState(false);
  const frame = useRef<HTMLDivElement>(null);
  const isThere = field.isRequired || !isNothing(value);
  const isShown = isThere || isAdded;
  // Members of an optional object are required only if the object exists.
  const fields = field.editor.fields.map((member) => ({
    ...member,
    isRequired: member.isRequired && isThere,
  }));
  const add = (): void => {
    flushSync(() => setAdded(true));
    frame.current?.querySelector<HTMLElement>('input, textarea, [contenteditable=true]')?.focus();
  };
  const remove = (): void => {
    flushSync(() => {
      setAdded(false);
      onChange(undefined);
    });
    frame.current?.querySelector('button')?.focus();
  };
  const removal = isShown && !field.isRequired && !isReadOnly && (
    <RemoveButton label={`Remove ${field.label}`} onClick={remove} isSmall />
  );
  return (
    <div ref={frame}>
      <Framed
        field={field}
        error={error}
        actions={
          <>
            {actions}
            {removal}
          </>
        }
      >
        {isShown && <Members Field={Field} fields={fields} path={path} value={value} onChange={onChange} />}
        {!isShown && !isReadOnly && <AddButton label={`Add ${field.label}`} onClick={add} />}
      </Framed>
    </div>
  );
}

type MembersProps = Pick<Nested<'object'>, 'Field'> & {
  fields: Field[];
  path: string;
  value: unknown;
  onChange: (value: unknown) => void;
};

function Members({ Field, fields, path, value, onChange }: MembersProps) {
  const values = valuesOf(value);
  return fields.map((field) => (
    <Field
      key={field.name}
      field={field}
      path={`${path}.${field.name}`}
      value={values[field.name]}
      onChange={(next) => onChange(withMember(values, field.name, next))}
    />
  ));
}

/** None or one of several options, each with its own fields. */
export function OneOfInput({ Field, field, path, value, onChange, error, isReadOnly }: Nested<'oneOf'>) {
  const { options, common } = field.editor;
  const values = valuesOf(value);
  const chosen = options.find(({ name }) => values[name] !== undefined);
  const shapes = useShapes(path, 'oneOf');
  const choose = (name: string | null): void => {
    const { values: before } = shapes.get();
    const kept = chosen === undefined ? before : { ...before, [chosen.name]: values[chosen.name] };
    shapes.keep({ values: kept });
    onChange(name === null ? undefined : { ...shared, [name]: kept[name] ?? {} });
  };
  const shared = Object.fromEntries(
    Object.entries(values).filter(([name]) => common.some((each) => each.name === name)),
  );
  return (
    <Stack gap="xs">
      <Select
        label={field.label}
        description={field.help}
        withAsterisk={field.isRequired}
        data={options.map(({ name, label }) => ({ value: name, label }))}
        value={chosen?.name ?? null}
        placeholder="None"
        clearable={!field.isRequired && !isReadOnly}
        readOnly={isReadOnly}
        error={error}
        onChange={choose}
      />
      {chosen?.editor.kind === 'object' && (
        <Fieldset p="sm" legend={chosen.label}>
          <Stack gap="xs">
            {chosen.help !== undefined && <Input.Description>{chosen.help}</Input.Description>}
            <Members
              Field={Field}
              fields={chosen.editor.fields}
              path={`${path}.${chosen.name}`}
              value={values[chosen.name]}
              onChange={(next) => onChange({ ...shared, [chosen.name]: next })}
            />
          </Stack>
        </Fieldset>
      )}
      {chosen !== undefined && common.length > 0 && (
        <Members Field={Field} fields={common} path={path} value={value} onChange={onChange} />
      )}
    </Stack>
  );
}

const SHAPES: Partial<Record<Editor['kind'], string>> = { map: 'By name', list: 'As a list', json: 'JSON' };

/** The chosen shape, unless undo or others have given the field a value that this one does not show. */
function shownKind(value: unknown, chosen: Editor['kind'], shapes: readonly Editor[]): Editor['kind'] {
  if (chosen === 'json' || isNothing(value) || typeof value !== 'object') return chosen;
  const isList = Array.isArray(value);
  if (isList === (chosen === 'list')) return chosen;
  return shapes.find(({ kind }) => (kind === 'list') === isList)?.kind ?? 'json';
}

export function ShapesInput(props: Nested<'shapes'>) {
  const { Field, field, path, value, onChange, isReadOnly } = props;
  const { shapes } = field.editor;
  const { unapplied } = useFormScope();
  const others = useShapes(path, 'shapes');
  const [chosen, setChosen] = useState<Editor['kind']>(() => {
    if (unapplied?.textAt(path) !== undefined) return 'json';
    const last = isNothing(value) && shapes.find((shape) => shape.kind === others.get().chosen);
    return (last || shapes[0])?.kind ?? 'json';
  });
  const kind = shownKind(value, chosen, shapes);
  const editor = shapes.find((shape) => shape.kind === kind) ?? { kind: 'json', accepts: 'any' };
  // Elements of lists are single values, like values of maps.
  const shown: Editor = editor.kind === 'list' ? { kind: 'list', item: { kind: 'scalar' } } : editor;
  const swap = (
    <SegmentedControl
      size="xs"
      value={kind}
      disabled={isReadOnly}
      aria-label={`${field.label} as`}
      data={shapes.map((shape) => ({ value: shape.kind, label: SHAPES[shape.kind] ?? shape.kind }))}
      onChange={(next) => {
        setChosen(next);
        unapplied?.keep(path, undefined);
        const after = shapesAfter(others.get(), { left: kind, value, chosen: next });
        others.keep(after);
        onChange(after.values[next]);
      }}
    />
  );
  return (
    <Field
      key={kind}
      field={{ ...field, editor: shown }}
      path={path}
      value={value}
      onChange={onChange}
      actions={
        <>
          {swap}
          {props.actions}
        </>
      }
    />
  );
}
