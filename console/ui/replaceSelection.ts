/**
 * Typing over a selection in an editor. Chromium would copy the colours of the replaced text into a `style`
 * attribute, which the Content-Security-Policy refuses with an error in the browser's console.
 */
import { EditorView } from '@codemirror/view';

/** The editor replaces the selection itself. */
export const REPLACING = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    const { data, inputType } = event;
    const { from, to, empty } = view.state.selection.main;
    const isTyped = inputType === 'insertText' && data !== null && !view.composing;
    if (!isTyped || empty || view.state.readOnly || view.state.selection.ranges.length > 1) return false;
    const insert = () =>
      view.state.update({
        changes: { from, to, insert: data },
        selection: { anchor: from + data.length },
        scrollIntoView: true,
        userEvent: 'input.type',
      });
    const isHandled = view.state
      .facet(EditorView.inputHandler)
      .some((handle) => handle(view, from, to, data, insert));
    if (!isHandled) view.dispatch(insert());
    event.preventDefault();
    return true;
  },
});
