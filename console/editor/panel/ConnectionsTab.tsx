/** The connections of a node with their conditions. Connects and disconnects nodes without a pointer. */
import { ActionIcon, Button, Group, Select, Stack, Text, Title, Tooltip } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import type { WorkflowEdge, WorkflowNode } from '../../../api/workflow.ts';
import { labelsOf } from '../model/edgeLabels.ts';
import { edgeId, edgesOf, connectionProblem, type EdgeEnds } from '../model/graph.ts';
import { isTrigger, nodeName } from '../../workflows/kinds.ts';
import { connect } from '../model/model.ts';
import { RUN_SCOPE } from '../../../api/scopes.ts';
import { moveProblem, scopesOf } from '../model/scopes.ts';
import { moveToGroups, removeConnections } from '../store/commands.ts';
import { useEditor, useEditorStore } from '../store/store.ts';

type Side = 'before' | 'after';

/** The direction of the edges of each side, seen from the node. */
const SIDES: Record<Side, { title: string; ask: string; ends: (id: string, other: string) => EdgeEnds }> = {
  before: { title: 'Runs after', ask: 'Connect from…', ends: (id, other) => ({ from: other, to: id }) },
  after: { title: 'Runs next', ask: 'Connect to…', ends: (id, other) => ({ from: id, to: other }) },
};

export function ConnectionsTab({ node }: { node: WorkflowNode }) {
  return (
    <Stack gap="lg">
      {!isTrigger(node) && <Connections id={node.id} side="before" />}
      <Connections id={node.id} side="after" />
      {!isTrigger(node) && <GroupSelect id={node.id} />}
    </Stack>
  );
}

function Connections({ id, side }: { id: string; side: Side }) {
  const { draft, isReadOnly } = useEditor();
  const [mine, other] = side === 'before' ? (['to', 'from'] as const) : (['from', 'to'] as const);
  const edges = edgesOf(draft.spec).filter((edge) => edge[mine] === id);
  return (
    <Stack gap={6} role="group" tabIndex={-1} aria-label={SIDES[side].title}>
      <Title order={2} size="h6">
        {SIDES[side].title}
      </Title>
      {edges.length === 0 && (
        <Text size="xs" c="dimmed">
          None.
        </Text>
      )}
      {edges.map((edge) => (
        <Line key={edgeId(edge)} edge={edge} other={edge[other]} />
      ))}
      {!isReadOnly && <ConnectSelect id={id} side={side} />}
    </Stack>
  );
}

function Line({ edge, other }: { edge: WorkflowEdge; other: string }) {
  const store = useEditorStore();
  const { draft, openEdge, isReadOnly } = useEditor();
  const name = nodeName(other, draft.spec.nodes);
  const words = labelsOf(edgesOf(draft.spec)).get(edgeId(edge))?.full ?? '';
  return (
    <Group gap={6} wrap="nowrap">
      <Tooltip label="Edit when it is taken">
        <Button
          flex={1}
          variant="default"
          justify="space-between"
          miw={0}
          styles={{ label: { flexShrink: 0, maxWidth: '60%' }, section: { minWidth: 0 } }}
          rightSection={
            <Text size="xs" c="dimmed" truncate component="span">
              {words === '' ? 'always' : words}
            </Text>
          }
          onClick={() => openEdge(edge)}
        >
          {/* The line height of the button would cut what is below the base line. */}
          <Text component="span" inherit truncate lh="sm">
            {name}
          </Text>
        </Button>
      </Tooltip>
      {!isReadOnly && (
        <Tooltip label="Remove the connection">
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Remove the connection from ${edge.from} to ${edge.to}`}
            onClick={({ currentTarget }) => {
              // The button is removed with its edge: keep the focus near.
              currentTarget.closest<HTMLElement>('[role=group]')?.focus();
              removeConnections(store, [edge]);
            }}
          >
            <IconTrash size={16} />
          </ActionIcon>
        </Tooltip>
      )}
    </Group>
  );
}

/** Offers the nodes that may be connected without creating a cycle. */
function ConnectSelect({ id, side }: { id: string; side: Side }) {
  const { draft, apply } = useEditor();
  const [search, setSearch] = useState('');
  const { ask, ends } = SIDES[side];
  const free = draft.spec.nodes.filter(
    (other) => connectionProblem(draft.spec, ends(id, other.id)) === undefined,
  );
  if (free.length === 0) return null;
  return (
    <Select
      aria-label={ask}
      placeholder={ask}
      searchable
      searchValue={search}
      onSearchChange={setSearch}
      data={free.map((other) => ({ value: other.id, label: nodeName(other.id, draft.spec.nodes) }))}
      value={null}
      onChange={(other) => {
        setSearch('');
        if (other !== null) apply((before) => connect(before, ends(id, other)));
      }}
    />
  );
}

/** The group of the node. Hidden while the workflow has none that the node could be in. */
function GroupSelect({ id }: { id: string }) {
  const store = useEditorStore();
  const { draft, isReadOnly } = useEditor();
  const { nodes } = draft.spec;
  const current = scopesOf(nodes).of(id);
  const groups = nodes.filter(
    (other) =>
      other.group !== undefined && (other.id === current || moveProblem(nodes, [id], other.id) === undefined),
  );
  if (groups.length === 0) return null;
  return (
    <Select
      label="Group"
      description="The group in which the node runs. Connections across its border are removed."
      readOnly={isReadOnly}
      data={[
        { value: RUN_SCOPE, label: 'None' },
        ...groups.map((group) => ({ value: group.id, label: nodeName(group.id, nodes) })),
      ]}
      value={current}
      onChange={(group) => {
        if (group !== null) moveToGroups(store, new Map([[id, group]]));
      }}
    />
  );
}
