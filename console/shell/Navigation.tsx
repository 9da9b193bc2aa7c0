/** The links to the pages of a project. On a wide screen they can be reduced to their icons. */
import { ActionIcon, NavLink, Tooltip } from '@mantine/core';
import { useLocalStorage, useMediaQuery } from '@mantine/hooks';
import {
  IconBinaryTree2,
  IconChartBar,
  IconKey,
  IconLayoutSidebarLeftCollapse,
  IconLayoutSidebarLeftExpand,
  IconPlayerPlay,
  IconTemplate,
} from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { ComponentType } from 'react';
import classes from './Shell.module.css';

const PAGES = [
  { to: '/p/$project/workflows', label: 'Workflows', icon: IconBinaryTree2 },
  { to: '/p/$project/runs', label: 'Runs', icon: IconPlayerPlay },
  { to: '/p/$project/credentials', label: 'Credentials', icon: IconKey },
  { to: '/p/$project/templates', label: 'Templates', icon: IconTemplate },
  { to: '/p/$project/overview', label: 'Overview', icon: IconChartBar },
] as const;

/** Narrow where a canvas needs the space, until the user decides otherwise. The browser remembers that. */
export function useNavigationWidth(): { isNarrow: boolean; toggleWidth: () => void } {
  const isSmall = useMediaQuery('(max-width: 1100px)', false, { getInitialValueInEffect: false });
  const [chosen, setChosen] = useLocalStorage<'narrow' | 'wide' | ''>({
    key: 'windlass.navigation',
    defaultValue: '',
    getInitialValueInEffect: false,
  });
  const isNarrow = chosen === '' ? isSmall : chosen === 'narrow';
  return { isNarrow, toggleWidth: () => setChosen(isNarrow ? 'wide' : 'narrow') };
}

type Props = { project: string; path: string; isNarrow: boolean; onToggle: () => void };

export function Navigation({ project, path, isNarrow, onToggle }: Props) {
  const label = isNarrow ? 'Expand the navigation' : 'Collapse the navigation';
  return (
    <div className={classes['pages']} data-narrow={isNarrow || undefined}>
      {PAGES.map((page) => (
        <PageLink key={page.to} {...page} project={project} path={path} isNarrow={isNarrow} />
      ))}
      <Tooltip label={label} position="right">
        <ActionIcon
          variant="subtle"
          color="gray"
          size={34}
          mt="auto"
          visibleFrom="sm"
          aria-label={label}
          aria-expanded={!isNarrow}
          onClick={onToggle}
        >
          {isNarrow ? <IconLayoutSidebarLeftExpand size={18} /> : <IconLayoutSidebarLeftCollapse size={18} />}
        </ActionIcon>
      </Tooltip>
    </div>
  );
}

type PageLinkProps = {
  to: (typeof PAGES)[number]['to'];
  label: string;
  icon: ComponentType<{ size?: number }>;
  project: string;
  path: string;
  isNarrow: boolean;
};

function PageLink({ to, label, icon: Icon, project, path, isNarrow }: PageLinkProps) {
  const isHere = path.startsWith(to.replace('$project', project));
  return (
    <Tooltip label={label} position="right" disabled={!isNarrow}>
      <NavLink
        component={Link}
        to={to}
        params={{ project } as never}
        label={label}
        aria-label={label}
        leftSection={<Icon size={18} />}
        active={isHere}
        aria-current={isHere ? 'page' : undefined}
      />
    </Tooltip>
  );
}
