/** The help menu of the header. */
import { ActionIcon, Menu } from '@mantine/core';
import { IconBook, IconHelp, IconListCheck } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { MenuLink } from '../ui/links.tsx';
import { useStartChoice } from '../overview/useStartChoice.ts';

export function HelpMenu({ project }: { project: string }) {
  const navigate = useNavigate();
  const [, setChoice] = useStartChoice(project);
  const openSteps = (): void => {
    setChoice('shown');
    void navigate({ to: '/p/$project/overview', params: { project } });
  };
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label="Help">
          <IconHelp size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <MenuLink to="/docs/$" params={{ _splat: 'console' }} leftSection={<IconBook size={16} />}>
          Documentation
        </MenuLink>
        <Menu.Item leftSection={<IconListCheck size={16} />} onClick={openSteps}>
          Getting started
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
