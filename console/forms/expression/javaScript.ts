/** Extensions of the code input for JavaScript only. */
import { javascriptLanguage } from '@codemirror/lang-javascript';
import type { KeyBinding } from '@codemirror/view';
import type { Mistake } from '../values.ts';

/** How long `Tab` leaves the code after `Escape`, in milliseconds. */
const LEAVE_MS = 2_000;

/** `Tab` indents code, so that people without a mouse need another way out: `Escape`, then `Tab`. */
export const LEAVE_WITH_TAB: KeyBinding = {
  key: 'Escape',
  run: (view) => {
    view.setTabFocusMode(LEAVE_MS);
    return true;
  },
};

/** The first place at which the parser of the editor cannot continue. Saving asks the engine. */
export function syntaxMistake(source: string): Mistake | undefined {
  let offset: number | undefined;
  javascriptLanguage.parser.parse(source).iterate({
    enter: ({ type, from }) => {
      if (type.isError) offset ??= from;
    },
  });
  if (offset === undefined) return undefined;
  const before = source.slice(0, offset).split('\n');
  const [found = 'end of the code'] = /^\s*(\w+|\S)/.exec(source.slice(offset))?.slice(1) ?? [];
  return {
    line: before.length,
    column: (before.at(-1) ?? '').length + 1,
    message: `Syntax error: unexpected ${found}`,
  };
}
