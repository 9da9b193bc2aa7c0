/** Whether the user dismissed the first steps of a project, kept in the browser. */
import { useLocalStorage } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { sessionQuery, userNameOf } from '../session/session.ts';
import { choiceKey, type Choice } from './gettingStarted.ts';

/** The choice, and a function that changes it, also on other pages that are open. */
export function useStartChoice(project: string): [Choice, (choice: Choice) => void] {
  const { data: session } = useQuery(sessionQuery);
  const [choice, setChoice] = useLocalStorage<Choice>({
    key: choiceKey(userNameOf(session) ?? '', project),
    defaultValue: '',
    getInitialValueInEffect: false,
  });
  return [choice, setChoice];
}
