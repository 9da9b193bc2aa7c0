/** Links from a failure to the credentials that it is about, which lead back afterwards. */
import { Group, Text } from '@mantine/core';
import { IconKey } from '@tabler/icons-react';
import { TextLink } from '../ui/links.tsx';

type Props = {
  project: string;
  names: readonly string[];
  /** Where the page of the credentials leads back: the name of a run, or the overview. */
  back: { run: string; workflow: string } | { overview: true };
  size?: 'xs' | 'sm';
};

export function CredentialLinks({ project, names, back, size = 'sm' }: Props) {
  if (names.length === 0) return null;
  return (
    <Group gap={6} mt={4}>
      <IconKey size={14} aria-hidden />
      <Text size={size}>{names.length === 1 ? 'Credential:' : 'Credentials of the node:'}</Text>
      {names.map((credential) => (
        <TextLink
          key={credential}
          to="/p/$project/credentials"
          params={{ project }}
          search={{ credential, ...back }}
          size={size}
          c="inherit"
          underline="always"
        >
          {credential}
        </TextLink>
      ))}
    </Group>
  );
}
