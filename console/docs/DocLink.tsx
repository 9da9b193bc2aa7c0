/** A link to a place in the documentation of this version, which opens beside the page with its input. */
import { VisuallyHidden } from '@mantine/core';
import { IconExternalLink } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { TextLink } from '../ui/links.tsx';
import type { DocPlace } from './doc.ts';

type Props = { to: DocPlace; size?: 'xs' | 'sm'; children: ReactNode };

export function DocLink({ to: { page, hash }, size = 'xs', children }: Props) {
  return (
    <TextLink
      to="/docs/$"
      params={{ _splat: page }}
      {...(hash !== undefined && { hash })}
      target="_blank"
      rel="noopener"
      preload={false}
      size={size}
      c="inherit"
      underline="always"
      // The icon stays beside the word.
      style={{ whiteSpace: 'nowrap' }}
    >
      {children}
      <IconExternalLink size={11} aria-hidden style={{ marginLeft: 4 }} />
      <VisuallyHidden> (new tab)</VisuallyHidden>
    </TextLink>
  );
}
