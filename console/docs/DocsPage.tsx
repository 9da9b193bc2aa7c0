/** The documentation of this version: a table of contents with search, and one page of it. */
import { Group, NativeSelect, NavLink, Skeleton, Stack, Text, TextInput, Title } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link, useLocation, useNavigate, useParams } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { docs, version } from 'windlass:docs';
import { FailureNote } from '../ui/FailureNote.tsx';
import { TextLink } from '../ui/links.tsx';
import type { LoadableDoc } from './doc.ts';
import { DocBlocks, elementId } from './DocBlocks.tsx';
import { foundDocs } from './search.ts';
import classes from './docs.module.css';

/** The page that is shown first. */
const FIRST = 'language';
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
        <Choice page={page} />
        {doc === undefined ? <Missing page={page} /> : <Page key={page} doc={doc} />}
      </article>
    </div>
  );
}

function Contents({ page }: { page: string }) {
  const [text, setText] = useState('');
  const found = foundDocs(docs, text);
  return (
    <Stack gap={4}>
      <TextInput
        aria-label="Search the documentation"
        placeholder="Search titles and headings"
        leftSection={<IconSearch size={14} />}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        mb={4}
      />
      {found.map((each) => (
        <div key={each.page}>
          <NavLink
            component={Link}
            to="/docs/$"
            params={{ _splat: each.page } as never}
            label={each.title}
            active={each.page === page}
            aria-current={each.page === page ? 'page' : undefined}
            py={4}
          />
          {each.headings.map(({ id, text: label }) => (
            <TextLink
              key={id}
              to="/docs/$"
              params={{ _splat: each.page }}
              hash={id}
              size="xs"
              display="block"
              pl="lg"
              py={2}
            >
              {label}
            </TextLink>
          ))}
        </div>
      ))}
      {found.length === 0 && (
        <Text size="sm" c="dimmed" role="status">
          No title or heading contains "{text.trim()}".
        </Text>
      )}
      <Text size="xs" c="dimmed" mt="sm">
        Windlass {version}
      </Text>
    </Stack>
  );
}

/** In place of the table of contents on a narrow screen. */
function Choice({ page }: { page: string }) {
  const navigate = useNavigate();
  const pages = docs.map((each) => ({ value: each.page, label: each.title }));
  const isKnown = pages.some(({ value }) => value === page);
  return (
    <NativeSelect
      className={classes['choice'] ?? ''}
      aria-label="Page of the documentation"
      // Otherwise an unknown page is shown as the first one, which then nobody can choose.
      data={isKnown ? pages : [{ value: page, label: 'Choose a page', disabled: true }, ...pages]}
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
        The documentation of this version has no page {page}. Choose one from the table of contents.
      </Text>
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
      {parts.length > 2 && (
        <Group gap="4px 14px" component="nav" aria-label="On this page" mb="sm">
          {parts.map(({ id, text }) => (
            <TextLink key={id} to="/docs/$" params={{ _splat: doc.page }} hash={id} size="xs">
              {text}
            </TextLink>
          ))}
        </Group>
      )}
      <DocBlocks blocks={data.blocks} />
    </>
  );
}
