/** An active webhook: its URL, an example call, and the next request as it arrives. */
import { Button, Group, Loader, Stack, Text } from '@mantine/core';
import type { WebhookTrigger } from '../../../api/trigger.ts';
import { useLastResults } from '../../runs/live/runStore.ts';
import { LabeledCopyLine } from '../../ui/copy.tsx';
import { CurlExample } from './CurlExample.tsx';
import { useState } from 'react';
import { useObject, useTable, type LiveTable } from '../../kube/hooks.ts';
import { RUNS } from '../../kube/resources.ts';
import { OutputView } from '../../runs/output/OutputView.tsx';
import { PhaseLabel } from '../../runs/phases.tsx';
import { TextLink } from '../../ui/links.tsx';
import { panelSearch } from '../store/panelSearch.ts';
import { useEditorPart } from '../store/store.ts';
import { firstRunSince } from './requests.ts';

type Props = {
  namespace: string;
  workflow: string;
  triggerId: string;
  webhook: WebhookTrigger;
  /** Undefined: not served yet. */
  url: string | undefined;
};

export function WebhookPanel({ namespace, workflow, triggerId, webhook, url }: Props) {
  const last = useLastResults().get(triggerId)?.data_content;
  if (url === undefined)
    return (
      <Text size="sm" c="dimmed">
        The URL appears when the workflow is served.
      </Text>
    );
  return (
    <Stack gap="sm">
      <LabeledCopyLine label="URL" text={url} what="URL" />
      <div>
        <CurlExample url={url} webhook={webhook} body={webhook.testData?.data_content ?? last} />
        <PublicNote webhook={webhook} />
      </div>
      <WaitingForRequest namespace={namespace} workflow={workflow} triggerId={triggerId} />
    </Stack>
  );
}

/** Warns that anyone may call the webhook, and how to confirm that. */
function PublicNote({ webhook: { auth } }: Pick<Props, 'webhook'>) {
  if (auth !== undefined && auth.none === undefined) return null;
  return (
    <Text size="xs" c={auth === undefined ? undefined : 'dimmed'} mt={6}>
      {auth === undefined
        ? 'Public: anyone who knows the URL can start runs. Set Authentication in the parameters of the trigger to verify callers, or to confirm that the webhook is public.'
        : 'Public by choice: anyone who knows the URL can start runs.'}
    </Text>
  );
}

type WaitingForRequestProps = { namespace: string; workflow: string; triggerId: string };

/** Waits for the next request to a webhook and shows its content and run. */
function WaitingForRequest({ namespace, workflow, triggerId }: WaitingForRequestProps) {
  const { data: table } = useTable(RUNS, namespace, {
    fieldSelector: `spec.workflow=${workflow}`,
    maxPages: 1,
  });
  if (table === undefined) return <Loader role="progressbar" size={14} aria-label="Loading" />;
  return <Waiting namespace={namespace} workflow={workflow} triggerId={triggerId} table={table} />;
}

function Waiting({ namespace, workflow, triggerId, table }: WaitingForRequestProps & { table: LiveTable }) {
  const [known, setKnown] = useState(() => uidsOf(table));
  const panel = useEditorPart((state) => state.panel);
  const came = firstRunSince(table.rows, known);
  if (came === undefined)
    return (
      <Group gap="xs" role="status">
        <Loader size={14} type="dots" />
        <Text size="sm">Waiting for a request…</Text>
      </Group>
    );
  const { name } = came.metadata;
  return (
    <Stack gap="xs">
      <Group justify="space-between" gap="xs">
        <Text size="sm" role="status">
          Request received: run{' '}
          <TextLink
            to="/p/$project/workflows/$workflow"
            params={{ project: namespace, workflow }}
            search={{ run: name, ...panelSearch(panel) }}
            size="sm"
          >
            {name}
          </TextLink>
        </Text>
        <Button size="compact-xs" variant="default" onClick={() => setKnown(uidsOf(table))}>
          Wait for another
        </Button>
      </Group>
      <Came namespace={namespace} run={name} triggerId={triggerId} />
    </Stack>
  );
}

function Came({ namespace, run, triggerId }: { namespace: string; run: string; triggerId: string }) {
  const { data: object } = useObject(RUNS, namespace, run);
  if (!object) return null;
  const { input, inputTruncated, inputRedacted } = object.spec;
  return (
    <Stack gap={4}>
      {object.status?.phase !== undefined && <PhaseLabel phase={object.status.phase} />}
      <OutputView
        output={input}
        nodeId={triggerId}
        isTruncated={inputTruncated === true}
        isRedacted={inputRedacted === true}
      />
    </Stack>
  );
}

function uidsOf({ rows }: LiveTable): ReadonlySet<string> {
  return new Set(rows.map(({ metadata }) => metadata.uid ?? ''));
}
