/** Switches a workflow on and off. Where a tool would switch it back, it says which; who may not, sees how it is. */
import { Switch, Text, Tooltip } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { patchObject } from '../kube/objects.ts';
import { WORKFLOWS } from '../kube/resources.ts';
import { tellFailure } from '../ui/tell.tsx';
import { managerText } from './manager.ts';
import type { WorkflowItem } from './items.ts';

type Props = { item: WorkflowItem; project: string; mayChange: boolean };

export function ActiveSwitch({ item: { name, title, active, activeOwner }, project, mayChange }: Props) {
  const change = useMutation({
    mutationFn: (next: boolean) =>
      patchObject(WORKFLOWS, { namespace: project, name }, { spec: { active: next } }),
    onError: (error, next) => tellFailure(`Could not ${next ? 'activate' : 'deactivate'} ${title}`, error),
  });
  if (!mayChange)
    return (
      <Text size="xs" c="dimmed">
        {active ? 'On' : 'Off'}
      </Text>
    );
  const shown = change.isPending ? change.variables : active;
  const toggle = (
    <Switch
      size="sm"
      checked={shown}
      aria-label={`${title} is active`}
      aria-busy={change.isPending}
      {...(activeOwner !== undefined && { 'aria-disabled': true, readOnly: true, opacity: 0.55 })}
      onChange={(event) => {
        if (activeOwner === undefined && !change.isPending) change.mutate(event.currentTarget.checked);
      }}
    />
  );
  if (activeOwner === undefined) return toggle;
  return (
    <Tooltip
      label={`${managerText(activeOwner)} manages this. Change it in the source of ${activeOwner.tool}.`}
      events={{ hover: true, focus: true, touch: true }}
      refProp="rootRef"
    >
      {toggle}
    </Tooltip>
  );
}
