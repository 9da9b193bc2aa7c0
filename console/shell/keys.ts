/** The keyboard shortcuts of the console, by where they work. `KeysDialog.tsx` lists them. */

/** Keys that each do it, and what they do. */
type Key = readonly [keys: readonly string[], what: string];

export const KEYS: readonly { where: string; keys: readonly Key[] }[] = [
  {
    where: 'Everywhere',
    keys: [
      [['?'], 'Show keyboard shortcuts'],
      [['Esc'], 'Close a dialog, a menu or a panel'],
    ],
  },
  {
    where: 'Pages of a project',
    keys: [[['Ctrl K'], 'Search workflows, runs, nodes, credentials and actions']],
  },
  {
    where: 'Workflows',
    keys: [
      [['N'], 'New workflow'],
      [['/'], 'Search the list'],
      [['↑', '↓'], 'Move from workflow to workflow'],
    ],
  },
  {
    where: 'Runs',
    keys: [[['/'], 'Search the list']],
  },
  {
    where: 'Editor',
    keys: [
      [['Ctrl Z'], 'Undo'],
      [['Ctrl Shift Z', 'Ctrl Y'], 'Redo'],
      [['Ctrl S'], 'Save the draft'],
      [['Ctrl Enter'], 'Open the test run; in its dialog, start it'],
      [['Esc', 'Tab'], 'One after the other in a code field of several lines: leave it'],
    ],
  },
  {
    where: 'Canvas',
    keys: [
      [['←', '→', '↑', '↓'], 'Move from node to node along the connections'],
      [['Shift ←', 'Shift →'], 'Select more nodes along the connections'],
      [['Enter', 'Space'], 'Open the selected node or connection'],
      [['Tab', '+'], 'Add a node after the selected node or on the selected connection'],
      [['Shift N'], 'Add a note'],
      [['Enter', 'Esc'], 'Edit the focused note; end editing'],
      [['Arrow keys', 'Shift ↓ →'], 'Move the focused note; change its size'],
      [['Del', 'Backspace'], 'Remove the selection or the focused note'],
      [['Ctrl C', 'Ctrl X', 'Ctrl V'], 'Copy, cut and paste nodes as YAML, also between workflows'],
      [['D'], 'Disable or enable the selected nodes'],
      [['Ctrl D'], 'Duplicate'],
      [['Ctrl A'], 'Select all'],
      [['Right click', 'Shift F10'], 'Show what can be done with the node'],
      [['Shift', 'Ctrl'], 'Hold to select several by clicking; Shift also by dragging a frame'],
      [['1'], 'Fit the workflow'],
      [['Shift T'], 'Tidy up'],
      [['Esc'], 'Close the panel, then clear the selection, so that Tab leaves the canvas'],
    ],
  },
  {
    where: 'Gallery of nodes and search',
    keys: [
      [['↑', '↓'], 'Move from entry to entry'],
      [['Enter'], 'Choose the entry'],
    ],
  },
];
