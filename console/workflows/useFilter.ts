/** The filter of the workflow list, which its address has. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState } from 'react';
import { withoutDefaults } from './addressFilters.ts';
import { NO_FILTER, type Filter } from './items.ts';

const LIST = '/p/$project/workflows';
/** The address has the text once the user pauses typing. */
const TYPING_MS = 250;

export function useFilter(): [filter: Filter, set: (next: Filter) => void] {
  const asked = useSearch({ from: LIST });
  const navigate = useNavigate({ from: LIST });
  const { text: written, state, trigger, active, label } = { ...NO_FILTER, ...asked };
  const [text, setText] = useState(written);
  const write = (next: Partial<Filter>): void =>
    void navigate({ search: (before) => withoutDefaults({ ...before, ...next }), replace: true });
  const sent = useRef(written);
  useEffect(() => {
    // What this page wrote itself may be older than what has been typed since.
    if (written !== sent.current) setText(written);
    sent.current = written;
  }, [written]);
  useEffect(() => {
    if (text === written) return undefined;
    const timer = setTimeout(() => {
      sent.current = text;
      write({ text });
    }, TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const filter = useMemo(
    () => ({ text, state, trigger, active, label }),
    [text, state, trigger, active, label],
  );
  const set = ({ text: typed, ...others }: Filter): void => {
    setText(typed);
    const isOther = (Object.keys(others) as (keyof typeof others)[]).some(
      (name) => others[name] !== filter[name],
    );
    if (isOther) write(others);
  };
  return [filter, set];
}
