/** The display name of a node, and its ID, which is renamed together with all references. */
import { ActionIcon, Button, Code, Group, Popover, Text, TextInput, Tooltip } from '@mantine/core';
import { IconPencil } from '@tabler/icons-react';
import { useState } from 'react';
import type { WorkflowNode } from '../../../api/workflow.ts';
import { useFormScope } from '../../forms/scope.ts';
import { actionLabel } from '../../workflows/kinds.ts';
import { renameNode } from '../model/model.ts';
import { useEditor } from '../store/store.ts';
import type { Change } from './LoopFields.tsx';

export function NodeName({ node, change }: { node: WorkflowNode; change: Change }) {
  const { isReadOnly } = useFormScope();
  return (
    <div style={{ flex: 1, minWidth: 0 }}>
      {isReadOnly ? (
        <Text fw={600} truncate>
          {node.displayName ?? node.id}
        </Text>
      ) : (
        <TextInput
          variant="unstyled"
          aria-label="Node name"
          value={node.displayName ?? ''}
          placeholder={node.id}
          maxLength={256}
          onChange={({ currentTarget: { value } }) =>
            change(
              ({ displayName: _old, ...rest }) => (value === '' ? rest : { ...rest, displayName: value }),
              'displayName',
            )
          }
          styles={{
            input: {
              '--input-placeholder-color': 'var(--mantine-color-text)',
              fontWeight: 600,
              fontSize: 'var(--mantine-font-size-md)',
              height: 24,
              minHeight: 24,
            },
          }}
        />
      )}
      <Group gap={4} wrap="nowrap">
        <Text size="xs" c="dimmed" truncate>
          {actionLabel(node)}
        </Text>
        <Text size="xs" c="dimmed" aria-hidden>
          ·
        </Text>
        <Code style={{ overflow: 'hidden', textOverflow: 'ellipsis', whiteSpace: 'nowrap' }}>{node.id}</Code>
        {!isReadOnly && <Rename key={node.id} id={node.id} />}
      </Group>
    </div>
  );
}

const ID = /^[A-Za-z][A-Za-z0-9_]{0,62}$/;

function Rename({ id }: { id: string }) {
  const { draft, apply, openNode } = useEditor();
  const [isOpen, setOpen] = useState(false);
  const [next, setNext] = useState(id);
  const problem = problemOf(next, id, draft.spec.nodes);
  const rename = () => {
    if (problem !== undefined) return;
    setOpen(false);
    if (next === id) return;
    apply((old) => renameNode(old, id, next));
    openNode(next);
  };
  return (
    <Popover opened={isOpen} onChange={setOpen} trapFocus returnFocus width={260} shadow="md">
      <Popover.Target>
        <Tooltip label="Change ID">
          <ActionIcon
            size="xs"
            variant="subtle"
            color="gray"
            aria-label="Change ID"
            onClick={() => setOpen(!isOpen)}
          >
            <IconPencil size={13} />
          </ActionIcon>
        </Tooltip>
      </Popover.Target>
      <Popover.Dropdown p="xs">
        <form
          onSubmit={(event) => {
            event.preventDefault();
            rename();
          }}
        >
          <TextInput
            label="ID"
            description="References to this node are updated."
            value={next}
            error={problem}
            onChange={({ currentTarget }) => setNext(currentTarget.value)}
            spellCheck={false}
            onFocus={({ currentTarget }) => currentTarget.select()}
            data-autofocus
          />
          <Button type="submit" mt="xs" disabled={problem !== undefined}>
            Change
          </Button>
        </form>
      </Popover.Dropdown>
    </Popover>
  );
}

function problemOf(next: string, id: string, nodes: readonly WorkflowNode[]): string | undefined {
  if (!ID.test(next)) return 'Start with a letter. Use only letters, digits and _, at most 63 characters.';
  if (next !== id && nodes.some((node) => node.id === next)) return 'Another node has this ID.';
  return undefined;
}
