/** The keys of the editor. */
import { Kbd, Modal, Table } from '@mantine/core';

const KEYS: [string[], string][] = [
  [['←', '→', '↑', '↓'], 'Go from node to node, along the lines'],
  [['Enter'], 'Open the node'],
  [['Tab', '+'], 'Add a node behind the selected one, or into the selected line'],
  [['Del', 'Backspace'], 'Remove what is selected'],
  [['Ctrl C', 'Ctrl X', 'Ctrl V'], 'Copy, cut, paste nodes, also between workflows, as YAML'],
  [['Ctrl D'], 'Duplicate'],
  [['Ctrl A'], 'Select all'],
  [['Shift'], 'Hold it to select several, by clicks or by dragging a frame'],
  [['Ctrl Z', 'Ctrl Shift Z'], 'Undo, redo'],
  [['Ctrl S'], 'Save'],
  [['1'], 'Fit the workflow'],
  [['Shift T'], 'Tidy up'],
  [['Esc'], 'Close the panel, then select nothing, so that Tab leaves the canvas'],
  [['?'], 'These keys'],
];

export function HelpDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Modal opened={opened} onClose={onClose} title="Keys" size="lg">
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
