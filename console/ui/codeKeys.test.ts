import { EditorState } from '@codemirror/state';
import { keymap } from '@codemirror/view';
import { expect, test } from 'vitest';
import { CODE_KEYS } from './codeKeys.ts';

test('editors leave Ctrl+Enter to the page', () => {
  const state = EditorState.create({ extensions: keymap.of(CODE_KEYS) });
  const keys = state.facet(keymap).flatMap((bindings) => bindings.map(({ key }) => key));
  expect(keys).toContain('Enter');
  expect(keys).not.toContain('Mod-Enter');
});
