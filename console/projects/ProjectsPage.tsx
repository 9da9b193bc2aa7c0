/** The first page: the projects of the user. A single project opens directly. */
import { Box, Card, Container, SimpleGrid, Skeleton, TextInput, Title } from '@mantine/core';
import { IconFolders, IconSearch } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Navigate } from '@tanstack/react-router';
import { useState } from 'react';
import { EmptyState } from '../ui/EmptyState.tsx';
import { FailureNote } from '../ui/FailureNote.tsx';
import { TextLink } from '../ui/links.tsx';
import { AnotherHint, OpenByName } from './ProjectChoice.tsx';
import { lastProject, projectsQuery, type Project } from './projects.ts';

export function ProjectsPage() {
  const { data: projects, error, refetch } = useQuery(projectsQuery);
  if (error !== null && projects === undefined)
    return (
      <Container py="xl">
        <FailureNote error={error} onRetry={() => void refetch()} />
      </Container>
    );
  if (projects === undefined)
    return (
      <Container py="xl" aria-busy>
        <Skeleton h={90} />
      </Container>
    );
  const known = projects.find(({ name }) => name === lastProject()) ?? projects[0];
  if (projects.length === 1 && known !== undefined)
    return <Navigate to="/p/$project/workflows" params={{ project: known.name }} replace />;
  return projects.length === 0 ? <NoProject /> : <ProjectGrid projects={projects} />;
}

function ProjectGrid({ projects }: { projects: Project[] }) {
  const [text, setText] = useState('');
  const shown = projects.filter(({ name }) => name.includes(text.trim().toLowerCase()));
  return (
    <Container size="lg" py="md" w="100%">
      <Title order={1} size="h3" mb="md">
        Projects
      </Title>
      {projects.length > 8 && (
        <TextInput
          aria-label="Search projects"
          placeholder="Search projects"
          leftSection={<IconSearch size={14} />}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          maw={320}
          mb="md"
        />
      )}
      <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }}>
        {shown.map(({ name }) => (
          <Card key={name} withBorder padding="md">
            <TextLink to="/p/$project/workflows" params={{ project: name }} fw={600}>
              {name}
            </TextLink>
          </Card>
        ))}
      </SimpleGrid>
      <Title order={2} size="h5" mt="xl" mb={4}>
        Open another project
      </Title>
      <Box maw={420}>
        <AnotherHint />
        <OpenByName />
      </Box>
    </Container>
  );
}

function NoProject() {
  return (
    <EmptyState icon={IconFolders} title="No projects" actions={<OpenByName />}>
      A project is a namespace in which you are allowed to list workflows. A project without workflows may not
      be listed: open it by name. If you have no access yet, ask an administrator to bind the ClusterRole
      windlass-view or windlass-edit to you in a namespace.
    </EmptyState>
  );
}
