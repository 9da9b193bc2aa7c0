/** The status bar of the run on the canvas: phase, error and actions. */
import { Button, Group, Text, Tooltip } from '@mantine/core';
import { IconEyeOff, IconListDetails } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useMemo, useRef, useState, type ReactNode } from 'react';
import { isTerminal } from '../../../api/phase.ts';
import { CancelButton } from '../../runs/CancelButton.tsx';
import { PhaseIcon } from '../../runs/phases.tsx';
import { COMPACT } from '../../ui/compact.ts';
import { ButtonLink } from '../../ui/links.tsx';
import { formatDuration, shortTime } from '../../ui/format.ts';
import { edgesOf } from '../model/graph.ts';
import { panelSearch } from '../store/panelSearch.ts';
import { useEditorPart, useEditorStore } from '../store/store.ts';
import { durationOf, resultOf, type RunResult } from '../../runs/live/result.ts';
import { isDraftQuery, otherThanToday } from '../../runs/revision.ts';
import { nodeNamesOf } from '../../workflows/nodeNames.ts';
import { useRunView, useShownRun, type RunShown } from '../../runs/live/runStore.ts';
import { PinRun } from './PinRun.tsx';
import { useFocusWhenGone } from '../../ui/useFocusWhenGone.ts';
import { useNow } from '../../ui/useNow.ts';
import classes from './RunStrip.module.css';

export function RunStrip() {
  const at = useShownRun();
  const view = useRunView();
  const panel = useEditorPart((state) => state.panel);
  const navigate = useNavigate();
  const [cancelling, setCancelling] = useState('');
  if (at === undefined) return null;
  const { run } = view;
  const isOver = isTerminal(run?.phase) || view.connection === 'failed';
  return (
    <Strip>
      <RunStatus view={view} isCancelling={cancelling === at.run && !isOver} />
      {!isOver && run !== undefined && (
        <CancelButton
          key={at.run}
          at={at}
          onChange={(isRequested) => setCancelling(isRequested ? at.run : '')}
        />
      )}
      {isOver && run !== undefined && <PinRun />}
      <ButtonLink
        variant="subtle"
        px={6}
        to="/p/$project/runs/$run"
        params={{ project: at.namespace, run: at.run }}
        search={{ workflow: at.workflow }}
        leftSection={<IconListDetails size={16} />}
        aria-label="Run details"
        title="Run details"
        classNames={COMPACT}
        style={{ flexShrink: 0 }}
      >
        Run details
      </ButtonLink>
      {isOver && (
        // Not a cross: the panel of a node has one right below.
        <Tooltip label="Show the canvas without the run">
          <Button
            variant="subtle"
            px={6}
            leftSection={<IconEyeOff size={16} />}
            aria-label="Close run"
            classNames={COMPACT}
            style={{ flexShrink: 0 }}
            onClick={() =>
              void navigate({
                to: '/p/$project/workflows/$workflow',
                params: { project: at.namespace, workflow: at.workflow },
                search: panelSearch(panel),
              })
            }
          >
            Close run
          </Button>
        </Tooltip>
      )}
    </Strip>
  );
}

function Strip({ children }: { children: ReactNode }) {
  const strip = useRef<HTMLDivElement>(null);
  useFocusWhenGone(strip);
  return (
    <div ref={strip} className={classes['strip']} role="group" aria-label="The run on the canvas">
      {children}
    </div>
  );
}

function RunStatus({ view, isCancelling }: { view: RunShown; isCancelling: boolean }) {
  const { run, nodes, connection } = view;
  const drawn = useEditorPart(({ draft }) => draft.spec.nodes);
  const names = useMemo(() => nodeNamesOf(drawn), [drawn]);
  const isLive = run !== undefined && !isTerminal(run.phase);
  const now = useNow(isLive);
  if (connection === 'failed') return <Text size="sm">The run no longer exists</Text>;
  if (run === undefined) return <Text size="sm">Loading the run…</Text>;
  const result = resultOf(run, nodes, names);
  const took = durationOf(run, now);
  const { node, edge, hasFailures } = result ?? {};
  return (
    <Group gap={6} wrap="nowrap" flex={1} miw={0}>
      <PhaseIcon phase={run.phase} hasFailures={hasFailures} />
      <span role="status" style={{ minWidth: 0 }}>
        <Tooltip label={result?.why} disabled={result?.why === undefined} multiline maw={420}>
          <Text size="sm" lineClamp={2} component="span" style={{ overflowWrap: 'anywhere' }}>
            {result === undefined ? (isCancelling ? 'Cancelling' : run.phase) : result.text}
            {result?.why !== undefined && `: ${result.why}`}
          </Text>
        </Tooltip>
      </span>
      {result === undefined && took !== undefined && (
        <Text size="sm" c="dimmed" style={{ fontVariantNumeric: 'tabular-nums' }} aria-hidden>
          {formatDuration(took)}
        </Text>
      )}
      <Received run={run} />
      <OtherRevision ran={run.revision} isTest={run.test} />
      {connection === 'broken' && (
        <Text size="sm" c="orange">
          Connection lost, reconnecting
        </Text>
      )}
      <ShowButton node={node} edge={edge} />
    </Group>
  );
}

/** Shows the connection whose condition failed, or else the failed node. */
function ShowButton({ node, edge }: { node: RunResult['node']; edge: RunResult['edge'] }) {
  const store = useEditorStore();
  const hasEdge = useEditorPart(
    ({ draft }) =>
      edge !== undefined && edgesOf(draft.spec).some(({ from, to }) => from === edge.from && to === edge.to),
  );
  const shown = hasEdge ? edge : undefined;
  if (shown === undefined && node === undefined) return null;
  const show = (): void => {
    if (shown !== undefined) return store.openEdge(shown);
    store.select({ nodes: node === undefined ? [] : [node] });
    if (node !== undefined) store.openNode(node, 'output');
  };
  return (
    <Button variant="subtle" px={6} style={{ flexShrink: 0 }} onClick={show}>
      {shown === undefined ? 'Show node' : 'Show connection'}
    </Button>
  );
}

/** Tells an old run from the last one. */
function Received({ run: { phase, acceptedTime: time } }: { run: NonNullable<RunShown['run']> }) {
  if (time === undefined || !isTerminal(phase)) return null;
  return (
    <Text size="sm" c="dimmed" style={{ whiteSpace: 'nowrap' }} visibleFrom="md">
      {shortTime(time)}
    </Text>
  );
}

/** Says that the canvas may show another version than the one that ran. */
function OtherRevision({ ran, isTest }: { ran: string | undefined; isTest: boolean }) {
  const today = useEditorPart(({ workflow }) => workflow.status?.revision);
  const namespace = useEditorPart(({ workflow }) => workflow.metadata.namespace ?? '');
  const isOther = ran !== undefined && today !== undefined && ran !== today;
  const { data: isDraft } = useQuery(isDraftQuery(namespace, isOther ? ran : undefined));
  const other = otherThanToday({ revision: ran, test: isTest, today, isDraft });
  if (other === undefined) return null;
  return (
    <Tooltip label={`${other.why} Nodes and connections may differ from the canvas.`}>
      <Text size="sm" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
        {other.text}
      </Text>
    </Tooltip>
  );
}
