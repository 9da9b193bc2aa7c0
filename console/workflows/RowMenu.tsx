/** The menu of a workflow in the list, with the actions that the user may take. */
import { Menu, Text } from '@mantine/core';
import {
  IconCopy,
  IconDots,
  IconFileExport,
  IconPencil,
  IconPlayerPause,
  IconPlayerPlay,
  IconSchema,
  IconTrash,
} from '@tabler/icons-react';
import { useMemo, useState, type ComponentProps } from 'react';
import { MenuLink } from '../ui/links.tsx';
import type { WorkflowItem } from './items.ts';
import { useMay } from '../kube/access.ts';
import { WORKFLOWS } from '../kube/resources.ts';
import classes from './RowMenu.module.css';

export type RowAction = 'duplicate' | 'rename' | 'suspend' | 'resume' | 'export' | 'delete';

type Props = {
  item: WorkflowItem;
  project: string;
  rights: Rights;
  onAction: (action: RowAction, item: WorkflowItem) => void;
};

export function RowMenu(props: Props) {
  const { title } = props.item;
  // Menus are slow to render: only opened ones are mounted.
  const [isUsed, setUsed] = useState(false);
  if (isUsed) return <OpenedMenu {...props} />;
  return <MenuButton title={title} aria-haspopup="menu" onClick={() => setUsed(true)} />;
}

/** A plain element: each row has one. */
function MenuButton({ title, className = '', ...props }: { title: string } & ComponentProps<'button'>) {
  return (
    <button
      type="button"
      className={`${classes['button']} mantine-focus-auto ${className}`}
      aria-label={`Actions for ${title}`}
      {...props}
    >
      <IconDots size={18} />
    </button>
  );
}

function OpenedMenu({ item, project, rights, onAction }: Props) {
  const act = (action: RowAction) => () => onAction(action, item);
  return (
    <Menu position="bottom-end" defaultOpened>
      <Menu.Target>
        <MenuButton title={item.title} />
      </Menu.Target>
      <Menu.Dropdown>
        <MenuLink
          to="/p/$project/workflows/$workflow"
          params={{ project, workflow: item.name }}
          leftSection={<IconSchema size={16} />}
        >
          Open
        </MenuLink>
        {rights.mayCreate && (
          <Menu.Item leftSection={<IconCopy size={16} />} onClick={act('duplicate')}>
            Duplicate
          </Menu.Item>
        )}
        {rights.mayChange && (
          <Menu.Item leftSection={<IconPencil size={16} />} onClick={act('rename')}>
            Rename
          </Menu.Item>
        )}
        {rights.mayChange &&
          (item.suspended ? (
            <Menu.Item leftSection={<IconPlayerPlay size={16} />} onClick={act('resume')}>
              Resume
            </Menu.Item>
          ) : (
            <Menu.Item leftSection={<IconPlayerPause size={16} />} onClick={act('suspend')}>
              Suspend
              <Text span display="block" size="xs" c="dimmed">
                Refuses every run, including test runs
              </Text>
            </Menu.Item>
          ))}
        <Menu.Item leftSection={<IconFileExport size={16} />} onClick={act('export')}>
          Export YAML
        </Menu.Item>
        {rights.mayDelete && (
          <>
            <Menu.Divider />
            <Menu.Item c="red" leftSection={<IconTrash size={16} />} onClick={act('delete')}>
              Delete
            </Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}

/** The user's rights on the workflows of the project. */
export type Rights = { mayCreate: boolean; mayChange: boolean; mayDelete: boolean };

export function useRights(namespace: string): Rights {
  const mayCreate = useMay({ verb: 'create', resource: WORKFLOWS, namespace });
  const mayChange = useMay({ verb: 'patch', resource: WORKFLOWS, namespace });
  const mayDelete = useMay({ verb: 'delete', resource: WORKFLOWS, namespace });
  return useMemo(() => ({ mayCreate, mayChange, mayDelete }), [mayCreate, mayChange, mayDelete]);
}
