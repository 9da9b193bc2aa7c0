/** The help menu of the header. */
import { ActionIcon, Menu } from '@mantine/core';
import { IconBook, IconHelp, IconKeyboard, IconLicense, IconListCheck } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { MenuLink } from '../ui/links.tsx';
import { useOfferedAction } from '../ui/offered.ts';
import { useStartChoice } from '../overview/useStartChoice.ts';
import { openKeys } from './Keys.tsx';

export function HelpMenu({ project }: { project: string }) {
  const navigate = useNavigate();
  const [, setChoice] = useStartChoice(project);
  const openSteps = (): void => {
    setChoice('shown');
    void navigate({ to: '/p/$project/overview', params: { project } });
  };
  useOfferedAction('Getting started', openSteps);
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
        <Menu.Item leftSection={<IconKeyboard size={16} />} onClick={openKeys}>
          Keyboard shortcuts
        </Menu.Item>
        <Menu.Item
          component="a"
          href={document.querySelector<HTMLLinkElement>('link[rel="license"]')?.href}
          target="_blank"
          leftSection={<IconLicense size={16} />}
        >
          Licenses of libraries and icons
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
