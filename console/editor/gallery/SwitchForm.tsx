/** Several branches out of a node at once: one field, and for each branch a label and a condition. */
import {
  ActionIcon,
  Button,
  Checkbox,
  CloseButton,
  Group,
  Input,
  ScrollArea,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { IconArrowLeft, IconPlus, IconTrash } from '@tabler/icons-react';
import { useEffect, useMemo, useRef, useState } from 'react';
import { CredentialInput } from '../../credentials/CredentialInput.tsx';
import { fieldsOf, type FieldChoice } from '../../forms/condition/fields.ts';
import { FieldSelect } from '../../forms/condition/FieldSelect.tsx';
import {
  fitRow,
  OperatorSelect,
  ValueInput,
  withOperator,
  type RowDraft,
} from '../../forms/condition/RowInputs.tsx';
import { lacksValue, operatorOf, printField, printRow, type Field } from '../../forms/condition/rows.ts';
import { FormContext, type FormScope } from '../../forms/scope.ts';
import { useLastResults } from '../../runs/live/runStore.ts';
import { count } from '../../ui/format.ts';
import { nodeLabel } from '../../workflows/kinds.ts';
import { addBranches, type Branch } from '../model/branches.ts';
import { withPinnedOutputs } from '../model/pins.ts';
import { edgesOf } from '../model/graph.ts';
import { addNode, freeId, nodeOf, type Draft } from '../model/model.ts';
import { isOtherwise } from '../model/otherwise.ts';
import { sourcesOf } from '../panel/sources.ts';
import { useEditor, useEditorStore } from '../store/store.ts';
import classes from './gallery.module.css';

type BranchDraft = { label: string; row: RowDraft };

const NEW: BranchDraft = { label: '', row: { operator: 'equals', value: '' } };

const OTHERWISE_HELP = 'Taken if none of the conditions of the other connections from this node holds.';
const OTHERWISE_TAKEN = 'This node already has a connection for Otherwise.';

export function SwitchForm({ from, onBack }: { from: string; onBack: () => void }) {
  const store = useEditorStore();
  const scope = useScope(from);
  const { draft } = useEditor();
  const node = nodeOf(draft, from);
  const choices = useMemo(() => fieldsOf(scope.sources), [scope.sources]);
  const isDecided = hasOtherwiseAfter(draft, from);
  const [field, setField] = useState<Field>();
  const [branches, setBranches] = useState<readonly BranchDraft[]>([NEW, NEW]);
  const [otherwise, setOtherwise] = useState(isDecided ? undefined : 'Otherwise');
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  const choice = field && choices.find(({ cel }) => cel === printField(field));
  const all = field === undefined ? [] : branchesOf(field, branches, otherwise);
  const required = requiredAction(field, branches);
  const chooseField = (next: FieldChoice): void => {
    setField(next.field);
    setBranches(branches.map(({ label, row }) => ({ label, row: fitRow(row, next) })));
  };
  const add = (): void => {
    store.apply((before) => addBranches(before, from, all).draft);
    store.closePanel();
  };
  return (
    <FormContext value={scope}>
      <Head title={`Switch after ${node === undefined ? from : nodeLabel(node)}`} onBack={onBack} />
      <ScrollArea flex={1}>
        <Stack gap="sm" px={12} pb={12}>
          <Input.Wrapper size="xs" label="Field" labelElement="div">
            <FieldSelect label="Field" field={field} choices={choices} onChange={chooseField} input={input} />
          </Input.Wrapper>
          {branches.map((branch, index) => (
            <BranchInput
              key={index}
              name={`${index + 1}`}
              branch={branch}
              field={field}
              choice={choice}
              onChange={(next) => setBranches(branches.with(index, next))}
              {...(branches.length > 1 && { onRemove: () => setBranches(branches.toSpliced(index, 1)) })}
            />
          ))}
          <Button
            size="compact-xs"
            variant="subtle"
            leftSection={<IconPlus size={14} />}
            style={{ alignSelf: 'flex-start' }}
            onClick={() =>
              setBranches([...branches, { label: '', row: { ...(branches.at(-1) ?? NEW).row, value: '' } }])
            }
          >
            Add branch
          </Button>
          <Checkbox
            size="xs"
            label="Add an Otherwise branch"
            description={isDecided ? OTHERWISE_TAKEN : OTHERWISE_HELP}
            disabled={isDecided}
            checked={otherwise !== undefined}
            onChange={({ currentTarget }) => setOtherwise(currentTarget.checked ? 'Otherwise' : undefined)}
          />
          <Text size="xs" c="dimmed">
            Every branch whose condition holds is taken. Each begins with a node that passes its input on: add
            the next nodes after it. A missing field counts as empty, as false, and as not equal to any value.
          </Text>
          <Button disabled={required !== undefined} onClick={add}>
            {all.length === 0 ? 'Add branches' : `Add ${count(all.length, 'branch', 'branches')}`}
          </Button>
          {required !== undefined && (
            <Text size="xs" c="dimmed">
              {required}
            </Text>
          )}
        </Stack>
      </ScrollArea>
    </FormContext>
  );
}

function Head({ title, onBack }: { title: string; onBack: () => void }) {
  const store = useEditorStore();
  return (
    <div className={classes['head']}>
      <Group gap={6} wrap="nowrap">
        <ActionIcon variant="subtle" color="gray" aria-label="Back to the nodes" onClick={onBack}>
          <IconArrowLeft size={16} />
        </ActionIcon>
        <Title order={2} size="h5">
          {title}
        </Title>
      </Group>
      <CloseButton aria-label="Close" onClick={() => store.closePanel()} />
    </div>
  );
}

type InputProps = {
  name: string;
  branch: BranchDraft;
  field: Field | undefined;
  choice: FieldChoice | undefined;
  onChange: (branch: BranchDraft) => void;
  onRemove?: () => void;
};

function BranchInput({ name, branch, field, choice, onChange, onRemove }: InputProps) {
  const { label, row } = branch;
  const { hasValue = false } = operatorOf(row.operator);
  return (
    <div role="group" aria-label={`Branch ${name}`} className={classes['branch']}>
      <Group gap={6} wrap="nowrap">
        <OperatorSelect
          label={`Operator ${name}`}
          row={{ ...row, ...(field && { field }) }}
          type={choice?.type}
          onChange={(operator) => onChange({ label, row: withOperator(row, operator) })}
        />
        {hasValue && (
          <ValueInput
            label={`Value ${name}`}
            row={row}
            choice={choice}
            onChange={(value) => onChange({ label, row: { ...row, value } })}
          />
        )}
        {onRemove && (
          <ActionIcon
            size={30}
            variant="subtle"
            color="gray"
            aria-label={`Remove branch ${name}`}
            onClick={onRemove}
          >
            <IconTrash size={16} />
          </ActionIcon>
        )}
      </Group>
      <TextInput
        size="xs"
        aria-label={`Label ${name}`}
        placeholder={`Label: ${labelOf(row, field)}`}
        maxLength={60}
        value={label}
        onChange={({ currentTarget }) => onChange({ label: currentTarget.value, row })}
      />
    </div>
  );
}

/** Without a label, the branch is named by its condition: "amount is greater than 100", or by the value. */
function labelOf({ operator, value = '' }: RowDraft, field: Field | undefined): string {
  const { label, hasValue = false } = operatorOf(operator);
  if (operator === 'equals' && value !== '') return String(value);
  return [field?.at(-1), label, hasValue ? value : ''].join(' ').trim();
}

function branchesOf(field: Field, branches: readonly BranchDraft[], otherwise: string | undefined): Branch[] {
  const labeled = branches.map(({ label, row }) => ({
    label: label.trim() === '' ? labelOf(row, field) : label.trim(),
    when: printRow({ ...row, field }),
  }));
  return otherwise === undefined ? labeled : [...labeled, { label: otherwise }];
}

/** What the user must do before the branches can be added. Undefined: nothing. */
function requiredAction(field: Field | undefined, branches: readonly BranchDraft[]): string | undefined {
  if (field === undefined) return 'Choose a field first.';
  return branches.some(({ row }) => lacksValue(row))
    ? 'Enter a value for each branch. For a field without a value, choose "is empty".'
    : undefined;
}

/** Whether a connection out of the node is taken otherwise: there can be one only. */
function hasOtherwiseAfter({ spec }: Draft, from: string): boolean {
  const edges = edgesOf(spec);
  return edges.some((edge) => edge.from === from && isOtherwise(edges, edge));
}

/** What a new node after this one could refer to. */
function useScope(from: string): FormScope {
  const { draft, namespace, isReadOnly, shownItems } = useEditor();
  const outputs = useLastResults();
  return useMemo(() => {
    const id = freeId(
      draft.spec.nodes.map((node) => node.id),
      'next',
    );
    const probe: Draft = addNode(draft, { id, response: {} }, from);
    const sources = sourcesOf(probe.spec, id, withPinnedOutputs(outputs, draft), shownItems);
    return { namespace, isReadOnly, sources, problems: [], showsAll: true, CredentialInput };
  }, [draft, from, outputs, shownItems, namespace, isReadOnly]);
}
