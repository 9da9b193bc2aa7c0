/** Takes a file by choosing or dropping it, and gives its text. */
import { Button, FileButton, Stack, Text } from '@mantine/core';
import { useState, type DragEvent } from 'react';
import classes from './CreateDialog.module.css';

/** What the API server takes of an object, and more than a workflow ever is. */
const MAX_BYTES = 1_500_000;

export function FilePick({ onText }: { onText: (text: string) => void }) {
  const [problem, setProblem] = useState<string>();
  const [isOver, setOver] = useState(false);
  const take = async (file: File | null | undefined): Promise<void> => {
    if (!file) return;
    if (file.size > MAX_BYTES) return setProblem(`${file.name} is too large for a workflow.`);
    onText(await file.text());
  };
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    void take(event.dataTransfer.files[0]);
  };
  return (
    <div
      className={classes['drop'] ?? ''}
      {...(isOver && { 'data-over': true })}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <Stack align="center" gap="sm">
        <Text size="sm">Drop a YAML or JSON file here.</Text>
        <FileButton onChange={(file) => void take(file)} accept=".yaml,.yml,.json,application/json,text/yaml">
          {(props) => (
            <Button variant="default" {...props}>
              Choose a file
            </Button>
          )}
        </FileButton>
        {problem !== undefined && (
          <Text size="sm" c="var(--mantine-color-error)" role="alert">
            {problem}
          </Text>
        )}
      </Stack>
    </div>
  );
}
