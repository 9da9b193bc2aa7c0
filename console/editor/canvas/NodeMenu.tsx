/** The menu of the selected nodes, which a right click on a node opens, or the menu key. */
import { Menu, Text } from '@mantine/core';
import { IconCopyPlus, IconLayoutSidebarRight, IconPower, IconTrash } from '@tabler/icons-react';
import { count } from '../../ui/format.ts';
import { switchOf } from '../model/disabling.ts';
import type { Position } from '../model/place.ts';
import { removeSelected, switchSelected } from '../store/commands.ts';
import { useEditor, useEditorStore } from '../store/store.ts';
import { duplicateSelected } from './selectNew.ts';

/** The node, and where the pointer is in the window. */
export type MenuPlace = Position & { node: string };

type Props = { place: MenuPlace; onClose: () => void; show: (ids: readonly string[]) => void };

export function NodeMenu({ place: { node, x, y }, onClose, show }: Props) {
  const store = useEditorStore();
  const { draft, selection, isReadOnly } = useEditor();
  const action = switchOf(draft, selection.nodes);
  const what = selection.nodes.length > 1 ? ` ${count(selection.nodes.length, 'node')}` : '';
  const close = (): void => {
    onClose();
    document.querySelector<HTMLElement>(`[data-card="${CSS.escape(node)}"]`)?.focus();
  };
  return (
    <Menu opened onClose={close} position="bottom-start" offset={0} width={220} returnFocus={false}>
      <Menu.Target>
        <div style={{ position: 'fixed', left: x, top: y }} />
      </Menu.Target>
      <Menu.Dropdown aria-label={`Actions for ${what === '' ? node : what.trim()}`}>
        <Menu.Item
          leftSection={<IconLayoutSidebarRight size={16} />}
          rightSection={<Key>Enter</Key>}
          onClick={() => store.openNode(node)}
        >
          Open
        </Menu.Item>
        {!isReadOnly && (
          <>
            <Menu.Item
              leftSection={<IconCopyPlus size={16} />}
              rightSection={<Key>Ctrl D</Key>}
              onClick={() => show(duplicateSelected(store))}
            >
              Duplicate{what}
            </Menu.Item>
            {action !== undefined && (
              <Menu.Item
                leftSection={<IconPower size={16} />}
                rightSection={<Key>D</Key>}
                onClick={() => switchSelected(store)}
              >
                {action}
                {what}
              </Menu.Item>
            )}
            <Menu.Divider />
            <Menu.Item
              c="red"
              leftSection={<IconTrash size={16} />}
              rightSection={<Key>Del</Key>}
              onClick={() => removeSelected(store)}
            >
              Remove{what}
            </Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}

function Key({ children }: { children: string }) {
  return (
    <Text size="xs" c="dimmed" aria-hidden data-no-touch>
      {children}
    </Text>
  );
}
