/** The frame of every page: header, navigation and account menu. */
import {
  ActionIcon,
  AppShell,
  Badge,
  Burger,
  Group,
  Menu,
  Text,
  Tooltip,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconLogout, IconMoon, IconSun, IconUser } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useParams, useRouterState } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { personName } from '../../api/person.ts';
import { PaletteButton } from '../palette/PaletteButton.tsx';
import { ProjectChoice } from '../projects/ProjectChoice.tsx';
import { rememberProject } from '../projects/projects.ts';
import { sessionQuery, signOut } from '../session/session.ts';
import { clearTab } from '../ui/tabStore.ts';
import { Logo } from '../ui/Logo.tsx';
import { notifyFailure } from '../ui/notify.tsx';
import { CONTENT_ID, focusContentIfLost } from '../ui/pageContent.ts';
import { HelpMenu } from './HelpMenu.tsx';
import { Keys } from './Keys.tsx';
import { Navigation, useNavigationWidth } from './Navigation.tsx';
import classes from './Shell.module.css';
import { useBackInDialogs } from './useBackInDialogs.ts';
import { useIsNarrow } from '../ui/useIsNarrow.ts';
import { useLiveness } from '../kube/hooks.ts';

/** For menus in the header. Mantine's navigation has the z-index 101, dialogs have 200. */
const ABOVE_NAVIGATION = 102;

export function Shell() {
  const { project } = useParams({ strict: false });
  const [isOpen, { toggle, close }] = useDisclosure(false);
  const { isNarrow, toggleWidth } = useNavigationWidth();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  useEffect(close, [path, close]);
  useFocusOnNextPage(path);
  useBackInDialogs();
  useEffect(() => {
    if (project !== undefined) rememberProject(project);
  }, [project]);
  return (
    <AppShell
      header={{ height: 48 }}
      {...(project !== undefined && {
        navbar: { width: isNarrow ? 56 : 176, breakpoint: 'sm', collapsed: { mobile: !isOpen } },
      })}
    >
      <a href={`#${CONTENT_ID}`} className={classes['skip'] ?? ''}>
        Skip to content
      </a>
      <AppShell.Header px="sm" zIndex={ABOVE_NAVIGATION}>
        <Group h="100%" justify="space-between" wrap="nowrap" gap="xs">
          <Group gap="sm" wrap="nowrap" miw={0}>
            {project !== undefined && (
              <Burger
                opened={isOpen}
                onClick={toggle}
                hiddenFrom="sm"
                size="sm"
                aria-label={isOpen ? 'Close the navigation' : 'Open the navigation'}
              />
            )}
            <Link to="/" aria-label="Windlass: projects" className={classes['logo'] ?? ''}>
              <Logo size={24} />
              <Text fw={700} visibleFrom="xs" c="var(--mantine-color-text)">
                Windlass
              </Text>
            </Link>
            {project !== undefined && <ProjectChoice project={project} />}
          </Group>
          <Group wrap="nowrap" className={classes['tools'] ?? ''}>
            <LivenessBadge />
            {project !== undefined && <PaletteButton project={project} />}
            <SchemeButton />
            {project !== undefined && <HelpMenu project={project} />}
            <AccountMenu />
          </Group>
        </Group>
      </AppShell.Header>
      {project !== undefined && (
        <AppShell.Navbar p="xs" component="nav" aria-label="Pages of the project">
          <Navigation project={project} path={path} isNarrow={isNarrow} onToggle={toggleWidth} />
        </AppShell.Navbar>
      )}
      <AppShell.Main id={CONTENT_ID} className={classes['main'] ?? ''} tabIndex={-1}>
        <Outlet />
      </AppShell.Main>
      <Keys />
    </AppShell>
  );
}

/**
 * Gives the focus to the content of the next page if the element that had it was part of the page before. On
 * the first page Tab begins with the link that skips the navigation.
 */
function useFocusOnNextPage(path: string): void {
  const before = useRef(path);
  useEffect(() => {
    if (before.current === path) return undefined;
    before.current = path;
    const frame = requestAnimationFrame(focusContentIfLost);
    return () => cancelAnimationFrame(frame);
  }, [path]);
}

function SchemeButton() {
  const { setColorScheme } = useMantineColorScheme();
  const scheme = useComputedColorScheme('light');
  const other = scheme === 'light' ? 'dark' : 'light';
  return (
    <Tooltip label={`Switch to ${other}`}>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={`Switch to ${other}`}
        onClick={() => setColorScheme(other)}
      >
        {scheme === 'light' ? <IconMoon size={18} /> : <IconSun size={18} />}
      </ActionIcon>
    </Tooltip>
  );
}

function AccountMenu() {
  const { data: session } = useQuery(sessionQuery);
  const client = useQueryClient();
  const name = session?.signedIn === true ? personName(session.user.name) : '';
  const leave = async (): Promise<void> => {
    try {
      await signOut();
      client.clear();
      clearTab();
      location.assign('/console/');
    } catch (error) {
      notifyFailure('You are still signed in', error);
    }
  };
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={`Account ${name}`}>
          <IconUser size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown maw={320}>
        <Menu.Label>Signed in as</Menu.Label>
        <Text component="div" size="sm" px="sm" pb="xs" style={{ overflowWrap: 'anywhere' }}>
          {name}
        </Text>
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} />} onClick={() => void leave()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

/** Short interruptions are not reported. */
const GRACE_MS = 1_500;

function LivenessBadge() {
  const liveness = useLiveness();
  const isNarrow = useIsNarrow();
  const isLive = liveness === 'live' || liveness === 'paused';
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    if (isLive) return setShown(false);
    const timer = setTimeout(() => setShown(true), GRACE_MS);
    return () => clearTimeout(timer);
  }, [isLive]);
  return (
    <span role="status" style={{ flex: 'none' }}>
      {isShown && (
        <Tooltip label="The connection to Windlass is interrupted. What is shown may be out of date.">
          <Badge color="orange" variant="light" tt="none" radius="sm" fw={500} style={{ flex: 'none' }}>
            {isNarrow ? 'Offline' : 'Reconnecting…'}
          </Badge>
        </Tooltip>
      )}
    </span>
  );
}
