/** The display name of a node, and its ID, which is renamed together with all references. */
import { ActionIcon, Button, CloseButton, Code, Group, Input, Text, TextInput, Tooltip } from '@mantine/core';
import { IconPencil } from '@tabler/icons-react';
import { useState } from 'react';
import type { WorkflowNode } from '../../../api/workflow.ts';
import { useFormScope } from '../../forms/scope.ts';
import { actionLabel } from '../../workflows/kinds.ts';
import { LONGEST_DISPLAY_NAME } from '../../workflows/names.ts';
import { useEditor } from '../store/store.ts';
import type { Change } from './LoopFields.tsx';

export function NodeName({ node, change }: { node: WorkflowNode; change: Change }) {
  const { isReadOnly } = useFormScope();
  const [isRenaming, setRenaming] = useState<boolean>();
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
          maxLength={LONGEST_DISPLAY_NAME}
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
      {isRenaming ? (
        <Rename id={node.id} onClose={() => setRenaming(false)} />
      ) : (
        <Group gap={4} wrap="nowrap">
          <Text size="xs" c="dimmed" truncate>
            {actionLabel(node)}
          </Text>
          <Text size="xs" c="dimmed" aria-hidden>
            ·
          </Text>
          <Code style={{ overflow: 'hidden', textOverflow: 'ellipsis', whiteSpace: 'nowrap' }}>
            {node.id}
          </Code>
          {!isReadOnly && (
            <Tooltip label="Change ID">
              <ActionIcon
                size="xs"
                variant="subtle"
                color="gray"
                aria-label="Change ID"
                // Back from the field, which took its place.
                autoFocus={isRenaming === false}
                onClick={() => setRenaming(true)}
              >
                <IconPencil size={13} />
              </ActionIcon>
            </Tooltip>
          )}
        </Group>
      )}
    </div>
  );
}

const ID = /^[A-Za-z][A-Za-z0-9_]{0,62}$/;

/** In place of the ID, so that it covers nothing. */
function Rename({ id, onClose }: { id: string; onClose: () => void }) {
  const { draft, renameNode } = useEditor();
  const [next, setNext] = useState(id);
  const problem = problemOf(next, id, draft.spec.nodes);
  const rename = () => {
    if (problem !== undefined) return;
    onClose();
    if (next !== id) renameNode(id, next);
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        rename();
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.preventDefault();
        event.stopPropagation();
        onClose();
      }}
    >
      {/* Around the buttons, too, so that the texts below the field are as wide as the panel. */}
      <Input.Wrapper
        size="xs"
        error={problem}
        description="References to this node are updated."
        inputWrapperOrder={['input', 'error', 'description']}
      >
        <Group gap={4} wrap="nowrap" align="flex-start">
          <Text size="xs" c="dimmed" lh="30px" aria-hidden>
            ID
          </Text>
          <Input
            size="xs"
            aria-label="ID"
            flex={1}
            value={next}
            error={problem !== undefined}
            onChange={({ currentTarget }) => setNext(currentTarget.value)}
            spellCheck={false}
            autoFocus
            onFocus={({ currentTarget }) => currentTarget.select()}
          />
          <Button type="submit" px={8} disabled={problem !== undefined}>
            Change
          </Button>
          <CloseButton size={30} aria-label="Keep the ID" onClick={onClose} />
        </Group>
      </Input.Wrapper>
    </form>
  );
}

function problemOf(next: string, id: string, nodes: readonly WorkflowNode[]): string | undefined {
  if (!ID.test(next)) return 'Start with a letter. Use only letters, digits and _, at most 63 characters.';
  if (next !== id && nodes.some((node) => node.id === next)) return 'Another node has this ID.';
  return undefined;
}
