/** A link to the run that a node or a tool call started. */
import { Text } from '@mantine/core';
import { TextLink } from '../../ui/links.tsx';

export function ChildLink({ project, run }: { project: string; run: string }) {
  return (
    <Text size="sm">
      Started the run{' '}
      <TextLink size="sm" to="/p/$project/runs/$run" params={{ project, run }} search={{}}>
        {run}
      </TextLink>
    </Text>
  );
}
