/** A link to the run that a node or a tool call started. */
import { Text } from '@mantine/core';
import { TextLink } from '../../ui/links.tsx';

type Props = { project: string; run: string; item?: number | undefined };

/** `item`: the position of the item of a loop that started it. */
export function ChildLink({ project, run, item }: Props) {
  return (
    <Text size="sm">
      {item === undefined ? 'Started the run ' : `[${item}] started the run `}
      <TextLink size="sm" to="/p/$project/runs/$run" params={{ project, run }} search={{}}>
        {run}
      </TextLink>
    </Text>
  );
}
