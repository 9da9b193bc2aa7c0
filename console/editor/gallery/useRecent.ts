/** The nodes that the user added last, stored in the browser. */
import { useLocalStorage } from '@mantine/hooks';
import { withUsed } from './recent.ts';

/** The keys of the nodes that were added last, and how to add one. */
export function useRecent(): { recent: readonly string[]; use: (key: string) => void } {
  const [stored, setStored] = useLocalStorage<string[]>({
    key: 'windlass.recentNodes',
    defaultValue: [],
    getInitialValueInEffect: false,
  });
  const recent = Array.isArray(stored) ? stored.filter((key) => typeof key === 'string') : [];
  return { recent, use: (key) => setStored(withUsed(recent, key)) };
}
