/** The list of the keyboard shortcuts of the editor. */
import { Kbd, Modal, Table } from '@mantine/core';
import { memo } from 'react';

const KEYS: [string[], string][] = [
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
  [['Ctrl Z'], 'Undo'],
  [['Ctrl Shift Z', 'Ctrl Y'], 'Redo'],
  [['Ctrl S'], 'Save the draft'],
  [['Ctrl Enter'], 'Start a test run'],
  [['Ctrl K'], 'Search workflows, runs, nodes, credentials and actions'],
  [['1'], 'Fit the workflow'],
  [['Shift T'], 'Tidy up'],
  [['Esc'], 'Close the panel, then clear the selection, so that Tab leaves the canvas'],
  [['Esc', 'Tab'], 'One after the other in a code field: leave it'],
  [['?'], 'Show keyboard shortcuts'],
];

type Props = { opened: boolean; onClose: () => void };

export const HelpDialog = memo(function HelpDialog({ opened, onClose }: Props) {
  return (
    <Modal opened={opened} onClose={onClose} title="Keyboard shortcuts" size="lg">
      <Table verticalSpacing={6}>
        <Table.Tbody>
          {KEYS.map(([keys, what]) => (
            <Table.Tr key={what}>
              <Table.Td w="40%">
                {keys.map((key) => (
                  <Kbd key={key} mr={6}>
                    {key}
                  </Kbd>
                ))}
              </Table.Td>
              <Table.Td>{what}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Modal>
  );
});
