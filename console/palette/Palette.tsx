/** The command palette: finds workflows, runs, nodes, credentials, pages and actions by their names. */
import { Combobox, Group, Modal, Text, TextInput, useCombobox } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { number } from '../ui/format.ts';
import { useReturnFocus } from '../ui/useReturnFocus.ts';
import { foundSince, type Entry, type Found } from './entries.ts';
import { useEntries } from './useEntries.ts';
import classes from './palette.module.css';

type Props = { project: string; onClose: () => void };

export function Palette({ project, onClose }: Props) {
  useReturnFocus();
  const [text, setText] = useState('');
  const { shown, counts } = useFound(project, text);
  const combobox = useCombobox({ opened: true });
  useEffect(() => {
    combobox.selectFirstOption();
  }, [shown]);
  const choose = (key: string): void => {
    onClose();
    shown.find((entry) => entry.key === key)?.open();
  };
  return (
    <Modal opened onClose={onClose} title="Search" size="lg" yOffset="8vh">
      <Combobox store={combobox} onOptionSubmit={choose}>
        <Combobox.EventsTarget>
          <TextInput
            aria-label="Search everything"
            placeholder="Workflows, runs, nodes and more"
            leftSection={<IconSearch size={14} />}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
            // An open list keeps Escape from the dialog, and this list is always open.
            onKeyDown={({ key }) => {
              if (key === 'Escape') onClose();
            }}
            data-autofocus
            size="sm"
          />
        </Combobox.EventsTarget>
        <div className={classes['found']} tabIndex={0} role="group" aria-label="Results">
          {shown.length === 0 ? (
            <Combobox.Empty>Nothing matches "{text.trim()}". Try a part of a name.</Combobox.Empty>
          ) : (
            <Combobox.Options aria-label="Found">
              {[...Map.groupBy(shown, ({ group }) => group)].map(([group, entries]) => (
                <Combobox.Group key={group} label={groupLabel(group, entries.length, counts.get(group))}>
                  {entries.map((entry) => (
                    <FoundEntry key={entry.key} entry={entry} />
                  ))}
                </Combobox.Group>
              ))}
            </Combobox.Options>
          )}
        </div>
      </Combobox>
    </Modal>
  );
}

/** Says that a group has more than the list shows. */
function groupLabel(group: string, shown: number, all = shown): string {
  return shown < all ? `${group} (${number(shown)} of ${number(all)})` : group;
}

function useFound(project: string, text: string): Found {
  const listed = useEntries(project);
  const found = useRef<Found>(undefined);
  found.current = foundSince(found.current, { ...listed, text });
  return found.current;
}

function FoundEntry({ entry: { key, label, detail, note } }: { entry: Entry }) {
  const about = [detail, note].filter((text) => text !== undefined).join(' · ');
  return (
    <Combobox.Option value={key} className={classes['option'] ?? ''}>
      <Group justify="space-between" gap="sm" wrap="nowrap">
        {/* Never cut: the end of a name tells runs apart. */}
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {label}
        </Text>
        {about !== '' && (
          <Text size="xs" c="dimmed" ta="right" style={{ flexShrink: 0, maxWidth: '50%' }}>
            {about}
          </Text>
        )}
      </Group>
    </Combobox.Option>
  );
}
