/** Whether the screen has room for one column only. It is so where `visibleFrom="xs"` hides an element. */
import { useMediaQuery } from '@mantine/hooks';

export function useIsNarrow(): boolean {
  return useMediaQuery('(max-width: 35.99em)', false, { getInitialValueInEffect: false });
}
