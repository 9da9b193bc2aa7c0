/** The key that focuses the search of a list, shown in its empty field. */
import { Kbd } from '@mantine/core';

export function SearchKey() {
  return (
    <Kbd size="xs" data-no-touch>
      /
    </Kbd>
  );
}
