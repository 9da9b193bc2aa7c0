/** Selects another workflow of the project, which the node or tool runs. */
import { Group, Select, Stack, Text } from '@mantine/core';
import { useTable } from '../../kube/hooks.ts';
import { WORKFLOWS } from '../../kube/resources.ts';
import { textCell } from '../../kube/table.ts';
import { TextLink } from '../../ui/links.tsx';
import { OptionCheck } from '../../ui/OptionCheck.tsx';
import type { InputProps } from '../props.ts';
import { useFormScope } from '../scope.ts';
import { matchingWorkflows, workflowChoices } from '../workflowChoices.ts';
import { wrapperOf } from './PlainInputs.tsx';

export function WorkflowInput(props: InputProps<'workflow'>) {
  const { field, value, onChange, error, isReadOnly } = props;
  const { namespace, workflow } = useFormScope();
  const { data: table, error: failure } = useTable(WORKFLOWS, namespace);
  const titles = new Map(
    (table?.rows ?? []).map((row) => [row.metadata.name, textCell(row, 'Display name')]),
  );
  const state = workflowChoices([...titles.keys()], {
    own: workflow,
    chosen: typeof value === 'string' && value !== '' ? value : undefined,
    isWhole: table !== undefined && !table.more,
    hasFailed: failure !== null,
  });
  return (
    <Stack gap={4}>
      <Select
        {...wrapperOf(props)}
        data={state.options}
        value={typeof value === 'string' && value !== '' ? value : null}
        placeholder={(state.options.length > 0 ? field.placeholder : undefined) ?? state.placeholder}
        searchable
        filter={({ search }) =>
          matchingWorkflows(state.options, titles, search).map((name) => ({ value: name, label: name }))
        }
        clearable={!field.isRequired && !isReadOnly}
        nothingFoundMessage="No workflow matches."
        readOnly={isReadOnly}
        error={error ?? state.problem}
        onChange={(name) => onChange(name ?? undefined)}
        renderOption={({ option, checked = false }) => (
          <Group gap={8} wrap="nowrap" w="100%">
            <OptionCheck isChosen={checked} />
            <div style={{ minWidth: 0, overflowWrap: 'anywhere' }}>
              <Text size="xs">{option.value}</Text>
              {titles.get(option.value) !== undefined && (
                <Text size="xs" c="dimmed">
                  {titles.get(option.value)}
                </Text>
              )}
            </div>
          </Group>
        )}
      />
      {state.isEmpty && !isReadOnly && (
        <Text size="xs" c="dimmed">
          This project has no other workflow. Create one with a manual trigger under{' '}
          <TextLink to="/p/$project/workflows" params={{ project: namespace }}>
            Workflows
          </TextLink>
          .
        </Text>
      )}
    </Stack>
  );
}
