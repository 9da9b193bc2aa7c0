/** The mark of the chosen option in a list. Its column is there for all options, so that none is indented. */
import { IconCheck } from '@tabler/icons-react';

export function OptionCheck({ isChosen }: { isChosen: boolean }) {
  return (
    <IconCheck
      size={12}
      stroke={3}
      aria-hidden
      style={{ flex: 'none', opacity: 0.6, visibility: isChosen ? 'visible' : 'hidden' }}
    />
  );
}
