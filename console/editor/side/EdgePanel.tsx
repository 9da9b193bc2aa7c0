/** The panel of an edge: its condition, and a button to remove it. */
import { Button, CloseButton, SegmentedControl, Stack, Text, Title } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { useEffect, useMemo, useRef, type ReactNode } from 'react';
import type { WorkflowEdge } from '../../../api/workflow.ts';
import { ConditionInput } from '../../forms/condition/ConditionInput.tsx';
import { CredentialInput } from '../../credentials/CredentialInput.tsx';
import { FormContext, type FormScope } from '../../forms/scope.ts';
import { formText } from '../../forms/values.ts';
import { edgeId, edgesOf, type EdgeEnds } from '../model/graph.ts';
import { withPinnedOutputs } from '../model/pins.ts';
import { isTrigger, nodeName } from '../../workflows/kinds.ts';
import { nodeOf, updateEdge } from '../model/model.ts';
import { hasOtherwise, isOtherwise, otherwiseOf } from '../model/otherwise.ts';
import { sourcesOf } from '../panel/sources.ts';
import { useLastResults } from '../../runs/live/runStore.ts';
import { removeConnections } from '../store/commands.ts';
import { useEditor, useEditorStore } from '../store/store.ts';
import { WriteCondition } from './WriteCondition.tsx';
import classes from './side.module.css';

export function EdgePanel({ ends, onClose }: { ends: EdgeEnds; onClose: () => void }) {
  const store = useEditorStore();
  const { draft, apply, isReadOnly, problems } = useEditor();
  const scope = useScope(ends);
  const edges = edgesOf(draft.spec);
  const edge = edges.find(({ from, to }) => from === ends.from && to === ends.to);
  if (edge === undefined) return null;
  const wrong = problems.edges.get(edgeId(ends))?.map(({ message }) => formText(message));
  const name = (id: string) => nodeName(id, draft.spec.nodes);
  const isAfterFailure = edge.after === 'Failure';
  const always = `whenever ${name(ends.from)} ${isAfterFailure ? 'fails' : 'succeeds'}`;
  const setCondition = (when: string): void =>
    apply((before) => updateEdge(before, ends, { after: edge.after, when: when === '' ? undefined : when }), {
      key: `when ${edgeId(ends)}`,
    });
  return (
    <PanelFrame from={name(ends.from)} to={name(ends.to)} onClose={onClose}>
      <Stack px={12} pb={12}>
        <AfterChoice ends={ends} edge={edge} />
        <FormContext value={scope}>
          <ConditionInput
            label="Only if"
            help={`A CEL condition on the outputs of earlier nodes, for example nodes.${ends.from}.data_content.total > 100.0. Without one the connection is taken ${always}.`}
            without={`Without a condition the connection is taken ${always}.`}
            value={edge.when ?? ''}
            error={wrong?.join(' ')}
            onChange={setCondition}
            otherwise={{
              isChosen: isOtherwise(edges, edge),
              obstacle: otherwiseObstacle(edges, edge, name(ends.from)),
              choose: (isChosen) => setCondition(isChosen ? (otherwiseOf(edges, edge) ?? '') : ''),
              help: isAfterFailure
                ? `Taken if ${name(ends.from)} fails and no condition of the other connections for that holds.`
                : `Taken if none of the conditions of the other connections from ${name(ends.from)} holds.`,
            }}
          />
          <WriteCondition ends={ends} value={edge.when ?? ''} onAccept={setCondition} />
        </FormContext>
        {!isReadOnly && (
          <Button
            variant="light"
            color="red"
            leftSection={<IconTrash size={14} />}
            style={{ alignSelf: 'flex-start' }}
            onClick={() => {
              removeConnections(store, [ends]);
              // It stays where it cannot be removed, and its panel stays open.
              if (store.get().panel === undefined) onClose();
            }}
          >
            Remove connection
          </Button>
        )}
      </Stack>
    </PanelFrame>
  );
}

/** Whether the connection is taken after success or after failure. */
function AfterChoice({ ends, edge }: { ends: EdgeEnds; edge: WorkflowEdge }) {
  const { draft, apply, isReadOnly } = useEditor();
  const isAfterFailure = edge.after === 'Failure';
  const source = nodeOf(draft, ends.from);
  // Without its event there is no run.
  const cannotFail = source !== undefined && isTrigger(source) && !isAfterFailure;
  const saysWhy = cannotFail && !isReadOnly;
  return (
    <div>
      <Text size="sm" fw={600} mb={4} id="edge-after">
        Run
      </Text>
      <SegmentedControl
        aria-labelledby="edge-after"
        {...(saysWhy && { 'aria-describedby': 'edge-never-fails' })}
        size="xs"
        disabled={isReadOnly}
        value={edge.after ?? 'Success'}
        data={[
          { value: 'Success', label: `When ${nodeName(ends.from, draft.spec.nodes)} succeeds` },
          { value: 'Failure', label: 'When it fails', disabled: cannotFail },
        ]}
        onChange={(after) =>
          apply((before) =>
            updateEdge(before, ends, { when: edge.when, after: after === 'Failure' ? 'Failure' : undefined }),
          )
        }
      />
      {saysWhy && (
        <Text size="xs" c="dimmed" mt={4} id="edge-never-fails">
          A trigger cannot fail: without an event there is no run.
        </Text>
      )}
    </div>
  );
}

/** Why the edge cannot be taken otherwise; undefined: it can. */
function otherwiseObstacle(
  edges: readonly WorkflowEdge[],
  edge: WorkflowEdge,
  from: string,
): string | undefined {
  if (isOtherwise(edges, edge)) return undefined;
  if (hasOtherwise(edges, edge)) return `"${from}" already has an Otherwise connection.`;
  return otherwiseOf(edges, edge) === undefined
    ? `For Otherwise, another connection from "${from}" needs a condition.`
    : undefined;
}

type FrameProps = { from: string; to: string; onClose: () => void; children: ReactNode };

function PanelFrame({ from, to, onClose, children }: FrameProps) {
  const panel = useLostFocus();
  return (
    <div
      ref={panel}
      tabIndex={-1}
      role="group"
      aria-label={`Settings of the connection from ${from} to ${to}`}
      style={{ outline: 'none' }}
    >
      <div className={classes['head']}>
        <Title order={2} size="h5">
          {from} → {to}
        </Title>
        <CloseButton aria-label="Close" onClick={onClose} />
      </div>
      {children}
    </div>
  );
}

/**
 * The panel takes the focus if it was opened by a button in the panel of a node, which is gone. Otherwise the
 * canvas keeps the focus, where Delete removes the connection.
 */
function useLostFocus(): React.RefObject<HTMLDivElement | null> {
  const panel = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (document.activeElement === document.body) panel.current?.focus({ preventScroll: true });
  }, []);
  return panel;
}

/** A condition may refer to the same nodes as the target node, but not to `item`. */
function useScope({ from, to }: EdgeEnds): FormScope {
  const { draft, namespace, isReadOnly, shownItems } = useEditor();
  const outputs = useLastResults();
  return useMemo(() => {
    const { nodes, allIds } = sourcesOf(draft.spec, to, withPinnedOutputs(outputs, draft), shownItems);
    const previous = nodes.find(({ id }) => id === from);
    const sources = { nodes, ...(allIds && { allIds }), ...(previous && { previous }) };
    return { namespace, isReadOnly, sources, problems: [], showsAll: true, CredentialInput };
  }, [draft, from, to, outputs, shownItems, namespace, isReadOnly]);
}
