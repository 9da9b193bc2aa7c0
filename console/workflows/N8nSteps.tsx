/** How a workflow of n8n becomes one of Windlass: the page cannot convert it, but the command line can. */
import { Code, List, Stack, Text } from '@mantine/core';
import { DocLink } from '../docs/DocLink.tsx';
import { N8N_DOC } from '../docs/n8nDoc.ts';
import { CopyLine } from '../ui/copy.tsx';
import { useIsNarrow } from '../ui/useIsNarrow.ts';

const COMMAND = 'windlass import n8n workflow.json -o imported';

export function N8nSteps() {
  const isNarrow = useIsNarrow();
  return (
    <Stack gap="xs">
      <Text size="sm">The command line converts n8n workflows:</Text>
      <List type="ordered" size="sm" spacing={6}>
        <List.Item>
          Download the workflow in n8n, as <Code>workflow.json</Code>.
        </List.Item>
        <List.Item>
          Convert it:
          <CopyLine text={COMMAND} what="command" />
        </List.Item>
        <List.Item>
          Read <Code>imported/import-report.json</Code>: it says what to review.
        </List.Item>
        <List.Item>
          Import <Code>imported/workflow-NAME.yaml</Code> under <i>New workflow</i>,{' '}
          <i>{isNarrow ? 'File' : 'Import a file'}</i>.
        </List.Item>
      </List>
      <DocLink to={N8N_DOC} size="sm">
        How to import n8n workflows
      </DocLink>
    </Stack>
  );
}
