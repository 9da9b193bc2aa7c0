/** A button that opens a tree of what earlier nodes produced, for people who do not drag or write. */
import { ActionIcon, Popover, Text, Tooltip } from '@mantine/core';
import { IconBraces } from '@tabler/icons-react';
import { useState } from 'react';
import { useFormScope } from '../scope.ts';
import { ReferenceTree } from './ReferenceTree.tsx';

export function InsertReference({
  label,
  onInsert,
}: {
  label: string;
  onInsert: (reference: string) => void;
}) {
  const { sources, isReadOnly } = useFormScope();
  const [isOpen, setOpen] = useState(false);
  if (isReadOnly) return null;
  return (
    <Popover
      opened={isOpen}
      onChange={setOpen}
      position="bottom-end"
      width={360}
      shadow="md"
      withinPortal
      trapFocus
      returnFocus
    >
      <Popover.Target>
        <Tooltip label="Insert reference" disabled={isOpen}>
          <ActionIcon
            size="xs"
            variant="subtle"
            color="gray"
            aria-label={`Insert reference into ${label}`}
            aria-haspopup="dialog"
            onClick={() => setOpen(!isOpen)}
          >
            <IconBraces size={14} />
          </ActionIcon>
        </Tooltip>
      </Popover.Target>
      <Popover.Dropdown p="xs" aria-label="Insert reference">
        {sources.nodes.length === 0 && sources.element === undefined ? (
          <Text size="xs">
            Nothing is connected to this node. Connect it to the node whose output it should use.
          </Text>
        ) : (
          <ReferenceTree
            sources={sources}
            onPick={(reference) => {
              setOpen(false);
              onInsert(reference);
            }}
          />
        )}
      </Popover.Dropdown>
    </Popover>
  );
}
