/** The list of the keyboard shortcuts. */
import { Kbd, Modal, Stack, Table, Title } from '@mantine/core';
import { useReturnFocus } from '../ui/useReturnFocus.ts';
import { KEYS } from './keys.ts';

export function KeysDialog({ onClose }: { onClose: () => void }) {
  useReturnFocus();
  return (
    <Modal opened onClose={onClose} title="Keyboard shortcuts" size="lg">
      <Stack gap="md">
        {KEYS.map(({ where, keys }) => (
          <div key={where} role="group" aria-label={where}>
            <Title order={3} size="h6">
              {where}
            </Title>
            <Table verticalSpacing={6}>
              <Table.Tbody>
                {keys.map(([names, what]) => (
                  <Table.Tr key={what}>
                    <Table.Td w="40%">
                      {names.map((name) => (
                        <Kbd key={name} mr={6}>
                          {name}
                        </Kbd>
                      ))}
                    </Table.Td>
                    <Table.Td>{what}</Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </div>
        ))}
      </Stack>
    </Modal>
  );
}
