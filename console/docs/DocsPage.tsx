/** The documentation of this version: a table of contents with search, and one page of it. */
import {
  Button,
  Code,
  Group,
  NativeSelect,
  NavLink,
  Skeleton,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { IconArrowLeft, IconSearch } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link, useLocation, useNavigate, useParams } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { docs, version } from 'windlass:docs';
import { FailureNote } from '../ui/FailureNote.tsx';
import { lastProject } from '../projects/projects.ts';
import { ButtonLink, TextLink } from '../ui/links.tsx';
import type { LoadableDoc } from './doc.ts';
import { DocBlocks, elementId } from './DocBlocks.tsx';
import { groupedDocs } from './groups.ts';
import { foundDocs } from './search.ts';
import classes from './docs.module.css';

/** The page that is shown first. */
const FIRST = 'console';
/** The ID of the element that scrolls. */
const FRAME = 'documentation';

export function DocsPage() {
  const { _splat } = useParams({ strict: false });
  const page = _splat === undefined || _splat === '' ? FIRST : _splat;
  const doc = docs.find((each) => each.page === page);
  return (
    <div className={classes['frame'] ?? ''} id={FRAME}>
      <nav aria-label="Documentation" className={classes['contents'] ?? ''}>
        <Contents page={page} />
      </nav>
      <article className={classes['page'] ?? ''} aria-label={doc?.title ?? 'Documentation'}>
        <div className={classes['choice'] ?? ''}>
          <BackLink />
          <Choice page={page} />
        </div>
        {doc === undefined ? <Missing page={page} /> : <Page key={page} doc={doc} />}
      </article>
    </div>
  );
}

/** To the project that was last open, or to the list of projects. */
function BackLink() {
  const project = lastProject();
  const back = { variant: 'subtle', size: 'compact-sm', leftSection: <IconArrowLeft size={14} /> } as const;
  return project === undefined ? (
    <ButtonLink to="/" {...back}>
      Back to the console
    </ButtonLink>
  ) : (
    <ButtonLink to="/p/$project/workflows" params={{ project }} {...back}>
      Back to the console
    </ButtonLink>
  );
}

function Contents({ page }: { page: string }) {
  const [text, setText] = useState('');
  const list = useRef<HTMLDivElement>(null);
  // The page that is open may be far below.
  useEffect(() => {
    list.current?.querySelector('[aria-current="page"]')?.scrollIntoView({ block: 'nearest' });
  }, [page]);
  const found = foundDocs(docs, text);
  const groups = text.trim() === '' ? groupedDocs(found) : [{ label: '', docs: found }];
  return (
    <Stack gap={4} ref={list}>
      <div>
        <BackLink />
      </div>
      <TextInput
        aria-label="Search the documentation"
        placeholder="Search titles and headings"
        leftSection={<IconSearch size={14} />}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        mb={4}
      />
      {groups.map(({ label, docs: pages }) => (
        <div key={label}>
          {label !== '' && (
            <Text size="xs" fw={600} c="dimmed" mt="xs" mb={2}>
              {label}
            </Text>
          )}
          {pages.map((each) => (
            <FoundPage key={each.page} found={each} isOpen={each.page === page} />
          ))}
        </div>
      ))}
      {found.length === 0 && (
        <>
          <Text size="sm" c="dimmed" role="status">
            No title or heading contains "{text.trim()}".
          </Text>
          <div>
            <Button variant="default" onClick={() => setText('')}>
              Clear search
            </Button>
          </div>
        </>
      )}
      <Text size="xs" c="dimmed" mt="sm">
        Windlass {version}
      </Text>
    </Stack>
  );
}

type FoundProps = { found: ReturnType<typeof foundDocs>[number]; isOpen: boolean };

function FoundPage({ found: { page, title, headings }, isOpen }: FoundProps) {
  return (
    <>
      <NavLink
        component={Link}
        to="/docs/$"
        params={{ _splat: page } as never}
        // The address of a page may begin with that of another one.
        activeOptions={{ exact: true }}
        label={title}
        active={isOpen}
        aria-current={isOpen ? 'page' : undefined}
        py={4}
        // Those beside it are shown, too.
        style={{ scrollMarginBlock: 24 }}
      />
      {headings.map(({ id, text }) => (
        <TextLink
          key={id}
          to="/docs/$"
          params={{ _splat: page }}
          hash={id}
          size="xs"
          display="block"
          pl="lg"
          py={2}
        >
          {text}
        </TextLink>
      ))}
    </>
  );
}

/** In place of the table of contents on a narrow screen. */
function Choice({ page }: { page: string }) {
  const navigate = useNavigate();
  const groups = groupedDocs(docs).map(({ label, docs: pages }) => ({
    group: label,
    items: pages.map((each) => ({ value: each.page, label: each.title })),
  }));
  const isKnown = docs.some((each) => each.page === page);
  return (
    <NativeSelect
      mt={4}
      aria-label="Page of the documentation"
      // Otherwise an unknown page is shown as the first one, which then nobody can choose.
      data={isKnown ? groups : [{ value: page, label: 'Choose a page', disabled: true }, ...groups]}
      value={page}
      onChange={(event) => void navigate({ to: '/docs/$', params: { _splat: event.currentTarget.value } })}
    />
  );
}

function Missing({ page }: { page: string }) {
  return (
    <Stack gap="xs">
      <Title order={1} size="h3">
        Page not found
      </Title>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        The documentation of this version has no page {/* In one line, as far as it fits. */}
        <Code style={{ display: 'inline-block', maxWidth: '100%', overflow: 'visible' }}>{page}</Code>. Choose
        another page.
      </Text>
      <div>
        <ButtonLink to="/docs/$" params={{ _splat: FIRST }} variant="default">
          Go to the first page
        </ButtonLink>
      </div>
    </Stack>
  );
}

function Page({ doc }: { doc: LoadableDoc }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['docs', doc.page],
    staleTime: Infinity,
    queryFn: () => doc.load(),
  });
  const hash = useLocation({ select: (location) => location.hash });
  useEffect(() => {
    if (data === undefined) return;
    const heading = hash === '' ? null : document.getElementById(elementId(hash));
    if (heading === null) document.getElementById(FRAME)?.scrollTo(0, 0);
    heading?.scrollIntoView();
    heading?.focus({ preventScroll: true });
  }, [data, hash]);
  if (error !== null) return <FailureNote error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton h={400} aria-label="Loading the page" />;
  const parts = doc.headings.filter(({ level }) => level === 2);
  return (
    <>
      {/* The first block is the title. */}
      <DocBlocks blocks={data.blocks.slice(0, 1)} />
      {parts.length > 2 && (
        <Group gap="4px 14px" component="nav" aria-label="On this page" mb="sm">
          <Text size="xs" c="dimmed" aria-hidden>
            On this page:
          </Text>
          {parts.map(({ id, text }) => (
            <TextLink key={id} to="/docs/$" params={{ _splat: doc.page }} hash={id} size="xs">
              {text}
            </TextLink>
          ))}
        </Group>
      )}
      <DocBlocks blocks={data.blocks.slice(1)} />
    </>
  );
}
