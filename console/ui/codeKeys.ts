/** The keys of every CodeMirror editor of the console. */
import { defaultKeymap } from '@codemirror/commands';
import type { KeyBinding } from '@codemirror/view';

/** Ctrl+Enter belongs to the page, where it opens or starts a test run: it must not change the text. */
export const CODE_KEYS: readonly KeyBinding[] = defaultKeymap.filter(({ key }) => key !== 'Mod-Enter');
