/** The keys of the editor. */
import { Kbd, Modal, Table } from '@mantine/core';

const KEYS: [string[], string][] = [
  [['←', '→', '↑', '↓'], 'Move from node to node along the connections'],
  [['Enter'], 'Open the node'],
  [['Tab', '+'], 'Add a node after the selected node or on the selected connection'],
  [['Del', 'Backspace'], 'Remove the selection'],
  [['Ctrl C', 'Ctrl X', 'Ctrl V'], 'Copy, cut and paste nodes as YAML, also between workflows'],
  [['Ctrl D'], 'Duplicate'],
  [['Ctrl A'], 'Select all'],
  [['Shift'], 'Hold to select several by clicking or dragging a frame'],
  [['Ctrl Z', 'Ctrl Shift Z'], 'Undo, redo'],
  [['Ctrl S'], 'Save'],
  [['1'], 'Fit the workflow'],
  [['Shift T'], 'Tidy up'],
  [['Esc'], 'Close the panel, then clear the selection, so that Tab leaves the canvas'],
  [['?'], 'Show keyboard shortcuts'],
];

export function HelpDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Modal opened={opened} onClose={onClose} title="Keyboard shortcuts" size="lg">
      <Table verticalSpacing={6}>
        <Table.Tbody>
          {KEYS.map(([keys, what]) => (
            <Table.Tr key={what}>
              <Table.Td w={230}>
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
}
