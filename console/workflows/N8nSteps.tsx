/** How a workflow of n8n becomes one of Windlass: the page cannot convert it, but the command line can. */
import { List, Stack, Text } from '@mantine/core';
import { DocLink } from '../docs/DocLink.tsx';
import { N8N_DOC } from '../docs/n8nDoc.ts';
import { CopyLine } from '../ui/copy.tsx';

const COMMAND = 'windlass import n8n workflow.json -o imported';

export function N8nSteps() {
  return (
    <Stack gap="xs">
      <Text size="sm">The command line converts workflows of n8n:</Text>
      <List type="ordered" size="sm" spacing={6}>
        <List.Item>Save the workflow as workflow.json (in n8n: Download).</List.Item>
        <List.Item>
          Convert it:
          <CopyLine text={COMMAND} what="command" />
        </List.Item>
        <List.Item>Read imported/import-report.json: it says what to review.</List.Item>
        <List.Item>
          Import the file workflow-….yaml of that folder under <i>New workflow</i>, <i>Import a file</i>.
        </List.Item>
      </List>
      <DocLink to={N8N_DOC} size="sm">
        Import from n8n
      </DocLink>
    </Stack>
  );
}
