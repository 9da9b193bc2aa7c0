/**
 * Inputs for CEL: the values of the skill `set`, which are names with an expression each or one expression
 * for the whole output, and conditions.
 */
import { Button, Input, SegmentedControl, Stack, TextInput } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { DocLink } from '../../docs/DocLink.tsx';
import { EXPRESSION_DOC } from '../../docs/links.ts';
import { ConditionInput } from '../condition/ConditionInput.tsx';
import { ExpressionInput } from '../expression/ExpressionInput.tsx';
import { useFormScope } from '../scope.ts';
import { NO_SHAPES } from '../shapes.ts';
import { useShapes } from '../useShapes.ts';
import { namedValues, problemsAt, shownRows, type Rows } from '../values.ts';
import { shownShape, switched, type Shape } from './celShape.ts';
import { JsonInput } from './CodeFields.tsx';
import { FieldLabel } from '../FieldLabel.tsx';
import { RemoveButton } from './Framed.tsx';
import type { InputProps } from '../props.ts';
import classes from './namedRows.module.css';

export function CelValuesInput(props: InputProps<'celValues'>) {
  const { field, path, value, onChange, error, isReadOnly } = props;
  const { unapplied } = useFormScope();
  const shapes = useShapes(path, 'values');
  const [chosen, setChosen] = useState<Shape>(() => shownShape(value, shapes.get()));
  // Undo and others may give the field a value of another shape.
  const shape = unapplied?.textAt(path) === undefined ? shownShape(value, { ...NO_SHAPES, chosen }) : 'json';
  const swap = (
    <SegmentedControl
      size="xs"
      value={shape}
      disabled={isReadOnly}
      aria-label={`${field.label} as`}
      data={[
        { value: 'names', label: 'By name' },
        { value: 'one', label: 'One value' },
        { value: 'json', label: 'JSON' },
      ]}
      onChange={(next) => {
        setChosen(next);
        unapplied?.keep(path, undefined);
        const after = switched(shapes.get(), { left: shape, value, chosen: next });
        shapes.keep(after.shapes);
        if (after.value !== value) onChange(after.value);
      }}
    />
  );
  return (
    <div>
      {shape === 'json' && (
        <JsonInput
          {...props}
          field={{
            ...field,
            help: NESTED_HELP,
            isExpression: false,
            editor: { kind: 'json', accepts: 'object' },
          }}
          actions={swap}
        />
      )}
      {shape === 'one' && (
        <ExpressionInput
          label={field.label}
          language="cel"
          isMultiline
          value={typeof value === 'string' ? value : ''}
          onChange={(text) => onChange(text === '' ? undefined : text)}
          isRequired={field.isRequired}
          error={error}
          actions={swap}
          help={ONE_HELP}
        />
      )}
      {shape === 'names' && <Named {...props} actions={swap} />}
      <DocLink to={EXPRESSION_DOC}>Expressions in CEL</DocLink>
    </div>
  );
}

const NESTED_HELP = 'Names with an expression in CEL each, as JSON. Objects and lists may be nested.';
const ONE_HELP = 'One expression in CEL, whose value is the whole output.';

export function CelConditionInput({ field, value, onChange, error }: InputProps<'celCondition'>) {
  return (
    <ConditionInput
      label={field.label}
      help={field.help ?? ''}
      placeholder={field.placeholder}
      without="Choose a field, and what it must be."
      isRequired={field.isRequired}
      value={typeof value === 'string' ? value : ''}
      onChange={(text) => onChange(text === '' ? undefined : text)}
      error={error}
    />
  );
}

function Named({ field, path, value, onChange, error, isReadOnly, actions }: InputProps<'celValues'>) {
  const { problems } = useFormScope();
  const own = problemsAt(problems, path, false);
  const isOfRows = problemsAt(problems, path, true).length > own.length;
  const [typed, setTyped] = useState<Rows>([]);
  const rows = shownRows(typed, value);
  const [added, setAdded] = useState<number>();
  const change = (next: Rows) => {
    setTyped(next);
    onChange(namedValues(next));
  };
  return (
    <Input.Wrapper
      size="xs"
      role="group"
      aria-label={field.label}
      labelElement="div"
      label={<FieldLabel label={field.label} isRequired={field.isRequired} actions={actions} />}
      labelProps={{ style: { width: '100%' } }}
      description={field.help}
      error={isOfRows ? own.join(' ') : error}
    >
      <Stack gap={8}>
        {rows.map(([name, source], index) => (
          <div key={index} className={classes['row']}>
            <TextInput
              aria-label={`Name ${index + 1}`}
              placeholder="Name"
              value={name}
              readOnly={isReadOnly}
              spellCheck={false}
              autoFocus={index === added}
              onChange={({ currentTarget }) => change(rows.with(index, [currentTarget.value, source]))}
            />
            <div className={classes['expression']}>
              <ExpressionInput
                label={`Expression for ${name || `row ${index + 1}`}`}
                language="cel"
                isBare
                value={typeof source === 'string' ? source : JSON.stringify(source)}
                onChange={(text) => change(rows.with(index, [name, text]))}
                error={problemsAt(problems, `${path}.${name}`, true).join(' ') || undefined}
                placeholder='nodes.trigger.data_content.price * 2.0, or "text"'
              />
            </div>
            {!isReadOnly && (
              <RemoveButton
                label={`Remove ${name || `row ${index + 1}`}`}
                onClick={() => change(rows.toSpliced(index, 1))}
              />
            )}
          </div>
        ))}
        {!isReadOnly && (
          <Button
            size="compact-xs"
            variant="subtle"
            leftSection={<IconPlus size={14} />}
            data-add
            onClick={() => {
              setTyped([...rows, ['', '']]);
              setAdded(rows.length);
            }}
            style={{ alignSelf: 'flex-start' }}
          >
            Add value
          </Button>
        )}
      </Stack>
    </Input.Wrapper>
  );
}
