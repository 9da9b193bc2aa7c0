/** The icons of the gallery: of nodes, and of the services that they work with. */
import {
  IconAlertOctagon,
  IconArrowsSplit2,
  IconBoxMultiple,
  IconBrandAws,
  IconBrandGmail,
  IconBrandGoogle,
  IconBrandGoogleDrive,
  IconBrandOffice,
  IconBrandOnedrive,
  IconBrandOpenai,
  IconBrandSlack,
  IconBrandTelegram,
  IconClockPause,
  IconCode,
  IconLetterA,
  IconRefresh,
  IconRepeat,
  IconRobot,
  IconSitemap,
  IconSquareRoundedArrowRight,
} from '@tabler/icons-react';
import { TRIGGER_ICONS } from '../../workflows/triggerIcons.ts';
import { skillIcon, type NodeIcon } from '../../workflows/nodeIcons.tsx';
import type { Offer } from './offers.ts';
import type { Brand } from './skillCategories.ts';

const KINDS: Record<Exclude<Offer['choice']['kind'], 'skill' | 'trigger'>, NodeIcon> = {
  switch: IconArrowsSplit2,
  agent: IconRobot,
  response: IconSquareRoundedArrowRight,
  code: IconCode,
  group: IconBoxMultiple,
  forEach: IconRepeat,
  repeat: IconRefresh,
  wait: IconClockPause,
  workflow: IconSitemap,
  fail: IconAlertOctagon,
};

export function choiceIcon(choice: Offer['choice']): NodeIcon {
  if (choice.kind === 'skill') return skillIcon(choice.name);
  if (choice.kind === 'trigger') return TRIGGER_ICONS[choice.trigger];
  return KINDS[choice.kind];
}

/** Tabler Icons has none of some: those have a related one. */
const BRANDS: Record<Brand, NodeIcon> = {
  OpenAI: IconBrandOpenai,
  // Sparkles are for what asks a model.
  Anthropic: IconLetterA,
  Gmail: IconBrandGmail,
  Outlook: IconBrandOffice,
  Telegram: IconBrandTelegram,
  Slack: IconBrandSlack,
  'Google Sheets': IconBrandGoogle,
  'Google Drive': IconBrandGoogleDrive,
  OneDrive: IconBrandOnedrive,
  'Amazon S3': IconBrandAws,
};

export function brandIcon(brand: Brand): NodeIcon {
  return BRANDS[brand];
}
