/** The fields of a credential's account, built from their schemas. Secret values have their own inputs. */
import {
  Checkbox,
  Fieldset,
  SegmentedControl,
  Select,
  Stack,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import type { Field } from '../forms/fields.ts';
import { TypedNumberInput } from '../forms/inputs/TypedNumberInput.tsx';
import { choiceLabel } from '../forms/labels.ts';
import { joined, type SecretEntry } from './build.ts';
import { defaultPort } from './ports.ts';
import { SecretInput } from './SecretInput.tsx';

type Fields = Record<string, unknown>;

/** The values of the form and how inputs change them. */
export type Typing = {
  secrets: Record<string, SecretEntry>;
  problems: Record<string, string>;
  /** Whether the user may write Secrets. Otherwise only existing Secrets can be referenced. */
  mayStore: boolean;
  onSecret: (path: string, entry: SecretEntry | undefined) => void;
};

type Props = {
  fields: readonly Field[];
  path: string;
  given: Fields;
  onChange: (given: Fields) => void;
  typing: Typing;
};

export function AccountFields({ fields, path, given, onChange, typing }: Props) {
  return (
    <Stack gap="sm">
      {fields.map((field) => (
        <AccountField
          key={field.name}
          field={withPort(field, fields, given)}
          path={joined(path, field.name)}
          value={given[field.name]}
          onChange={(value) => onChange({ ...given, [field.name]: value })}
          typing={typing}
        />
      ))}
    </Stack>
  );
}

/** The default of a port depends on the encryption beside it. */
function withPort(field: Field, fields: readonly Field[], { tls }: Fields): Field {
  if (field.name !== 'port') return field;
  const mode = typeof tls === 'string' ? tls : fields.find(({ name }) => name === 'tls')?.placeholder;
  const port = defaultPort(field.help ?? '', mode ?? '');
  return port === undefined ? field : { ...field, placeholder: port };
}

type FieldProps = {
  field: Field;
  path: string;
  value: unknown;
  onChange: (value: unknown) => void;
  typing: Typing;
};

function AccountField({ field, path, value, onChange, typing }: FieldProps) {
  const { editor, label, help } = field;
  const problem = typing.problems[path];
  if (editor.kind === 'secretRef')
    return (
      <SecretInput
        field={field}
        entry={typing.secrets[path]}
        problem={problem}
        mayStore={typing.mayStore}
        onChange={(entry) => typing.onSecret(path, entry)}
      />
    );
  if (editor.kind === 'object')
    return (
      <Fieldset legend={label}>
        <Help text={help} />
        <AccountFields
          fields={editor.fields}
          path={path}
          given={fieldsOf(value)}
          onChange={onChange}
          typing={typing}
        />
      </Fieldset>
    );
  return <PlainInput field={field} value={value} problem={problem} onChange={onChange} />;
}

type PlainProps = Pick<FieldProps, 'field' | 'value' | 'onChange'> & { problem: string | undefined };

function PlainInput({ field, value, problem, onChange }: PlainProps) {
  const { editor, label, help, isRequired, placeholder } = field;
  const about = {
    label,
    description: repeats(help, label) ? undefined : help,
    withAsterisk: isRequired,
    error: problem,
    autoComplete: 'off',
    ...(placeholder !== undefined && { placeholder }),
  };
  if (editor.kind === 'choice')
    return (
      <Select
        {...about}
        data={editor.options.map((option) => ({ value: option, label: choiceLabel(option) }))}
        value={typeof value === 'string' ? value : null}
        onChange={(next) => onChange(next ?? undefined)}
        clearable={!isRequired}
      />
    );
  if (editor.kind === 'number')
    return (
      <TypedNumberInput
        {...about}
        value={value}
        onChange={onChange}
        allowDecimal={!editor.isWhole}
        hideControls
      />
    );
  if (editor.kind === 'boolean')
    return (
      <Checkbox
        label={label}
        description={help}
        checked={typeof value === 'boolean' ? value : editor.isOnByDefault}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
    );
  if (editor.kind === 'list')
    return (
      <TagsInput
        {...about}
        size="xs"
        value={Array.isArray(value) ? value.map(String) : []}
        onChange={onChange}
        splitChars={[',', ' ']}
        acceptValueOnBlur
      />
    );
  return (
    <TextInput
      {...about}
      value={typeof value === 'string' ? value : ''}
      onChange={(event) => onChange(event.currentTarget.value)}
      spellCheck={false}
    />
  );
}

/** Whether a help such as "The user name." says no more than the label. */
function repeats(help: string | undefined, label: string): boolean {
  const plain = (text: string) => text.toLowerCase().replace(/^the |[ .]/g, '');
  return help !== undefined && plain(help) === plain(label);
}

type OneOfProps = Omit<Props, 'path' | 'fields'> & { options: readonly Field[] };

/** Exactly one of the options. Changing the option discards the values of the others. */
export function OneOfFields({ options, given, onChange, typing }: OneOfProps) {
  // Side by side, the last ones would be beyond the edge.
  const isNarrow = useMediaQuery('(max-width: 500px)', false, { getInitialValueInEffect: false });
  const taken = options.find(({ name }) => given[name] !== undefined) ?? options[0];
  const choose = (name: string): void => {
    const others = Object.entries(given).filter(([member]) => !options.some((each) => each.name === member));
    for (const path of Object.keys(typing.secrets)) typing.onSecret(path, undefined);
    onChange({ ...Object.fromEntries(others), [name]: {} });
  };
  if (taken === undefined) return null;
  return (
    <Stack gap="sm">
      <Stack gap={4}>
        <Text size="xs" fw={600} id="credential-login">
          Authentication
        </Text>
        <SegmentedControl
          aria-labelledby="credential-login"
          size="xs"
          // Mantine leaves out those beside the chosen one: they would stand between some of them only.
          withItemsBorders={false}
          orientation={isNarrow ? 'vertical' : 'horizontal'}
          fullWidth={isNarrow}
          data={options.map(({ name, label }) => ({ value: name, label }))}
          value={taken.name}
          onChange={choose}
        />
      </Stack>
      {taken.editor.kind === 'object' && (
        <AccountFields
          fields={taken.editor.fields}
          path={taken.name}
          given={fieldsOf(given[taken.name])}
          onChange={(next) => onChange({ ...given, [taken.name]: next })}
          typing={typing}
        />
      )}
    </Stack>
  );
}

function Help({ text }: { text: string | undefined }) {
  return text === undefined ? null : (
    <Text size="xs" c="dimmed" mb="xs">
      {text}
    </Text>
  );
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}
