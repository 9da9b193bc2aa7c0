/** Icons and colors of nodes, by kind and skill. */
import {
  IconAlertOctagon,
  IconBrandTelegram,
  IconBolt,
  IconClockPause,
  IconCode,
  IconCopyOff,
  IconDownload,
  IconMail,
  IconMailForward,
  IconPlayerPlay,
  IconRefresh,
  IconRepeat,
  IconReplace,
  IconRobot,
  IconRowInsertBottom,
  IconBoxMultiple,
  IconSitemap,
  IconSquareRoundedArrowRight,
  IconTableImport,
  IconUpload,
  IconVariable,
  IconWorld,
} from '@tabler/icons-react';
import type { ComponentType } from 'react';
import type { TriggerKind } from '../../api/triggerKinds.ts';
import type { WorkflowNode } from '../../api/workflow.ts';
import { TRIGGER_ICONS } from './triggerIcons.ts';
import { isTrigger, nodeKind } from './kinds.ts';

export type NodeIcon = ComponentType<{ size?: number | string }>;

const SKILLS: Record<string, NodeIcon> = {
  send_email: IconMail,
  reply_email: IconMailForward,
  http_request: IconWorld,
  set: IconVariable,
  send_message: IconBrandTelegram,
  append_row: IconRowInsertBottom,
  read_rows: IconTableImport,
  update_row: IconReplace,
  download_file: IconDownload,
  upload_file: IconUpload,
  remove_duplicates: IconCopyOff,
};

/** A draft may name any skill, such as constructor, which is an inherited member. */
export function skillIcon(name: string): NodeIcon {
  return (Object.hasOwn(SKILLS, name) ? SKILLS[name] : undefined) ?? IconBolt;
}

export function nodeIcon(node: WorkflowNode): NodeIcon {
  const kind = nodeKind(node);
  if (kind === 'agent') return IconRobot;
  if (kind === 'response') return IconSquareRoundedArrowRight;
  if (kind === 'fail') return IconAlertOctagon;
  if (kind === 'code') return IconCode;
  if (kind === 'wait') return IconClockPause;
  if (kind === 'group') return loopIcon(node) ?? IconBoxMultiple;
  if (isWorkflowStep(kind)) return IconSitemap;
  if (kind === 'skill') return skillIcon(node.skill?.name ?? '');
  return TRIGGER_ICONS[kind as TriggerKind] ?? IconPlayerPlay;
}

/** The icon of a node that is executed several times. */
export function loopIcon({ forEach, repeat }: WorkflowNode): NodeIcon | undefined {
  if (forEach) return IconRepeat;
  return repeat && IconRefresh;
}

function isWorkflowStep(kind: string | undefined): boolean {
  return kind === 'workflow';
}

/** The color name of the theme, by kind. */
export function nodeColor(node: WorkflowNode): string {
  if (isTrigger(node)) return 'orange';
  const kind = nodeKind(node);
  if (kind === 'agent') return 'violet';
  if (kind === 'fail') return 'red';
  if (kind === 'wait') return 'yellow';
  if (kind === 'group') return 'grape';
  return kind === 'response' ? 'green' : 'windlass';
}
