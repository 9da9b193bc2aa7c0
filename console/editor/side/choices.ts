/** The nodes to choose from, built from the schemas. */
import { schemas } from 'windlass:schemas';
import { TRIGGERS } from '../../workflows/triggers.ts';
import {
  IconAlertOctagon,
  IconBoxMultiple,
  IconClockPause,
  IconCode,
  IconRefresh,
  IconRepeat,
  IconRobot,
  IconSitemap,
  IconSquareRoundedArrowRight,
} from '@tabler/icons-react';
import type { Choice } from '../canvas/newNode.ts';
import { skillIcon, type NodeIcon } from '../canvas/nodeIcons.tsx';
import { skillLabel } from '../../workflows/kinds.ts';

export type Offer = {
  key: string;
  label: string;
  description: string;
  /** The required kinds of credentials, as text. */
  needs: string;
  icon: NodeIcon;
  color: string;
  group: string;
  choice: Choice;
};

const STEPS: Offer[] = [
  {
    key: 'agent',
    label: 'Agent',
    description: schemas.steps['agent']?.description ?? '',
    needs: 'openai or anthropic',
    icon: IconRobot,
    color: 'violet',
    group: 'AI',
    choice: { kind: 'agent' },
  },
  ...schemas.skills.map(
    ({ name, description, credentials, credentialIsOptional }): Offer => ({
      key: name,
      label: skillLabel(name),
      description,
      needs: credentialIsOptional ? '' : credentials.join(' or '),
      icon: skillIcon(name),
      color: 'windlass',
      group: 'Skills',
      choice: { kind: 'skill', name, credentials, isOptional: credentialIsOptional },
    }),
  ),
  {
    key: 'code',
    label: 'Code',
    description: schemas.steps['code']?.description ?? '',
    needs: '',
    icon: IconCode,
    color: 'windlass',
    group: 'Code',
    choice: { kind: 'code' },
  },
  {
    key: 'response',
    label: 'Response',
    description: schemas.steps['response']?.description ?? '',
    needs: '',
    icon: IconSquareRoundedArrowRight,
    color: 'green',
    group: 'Answer',
    choice: { kind: 'response' },
  },
  {
    key: 'forEach',
    label: 'Loop over items',
    description: 'A group of nodes that runs once for each item of a list. Each item is $item.',
    needs: '',
    icon: IconRepeat,
    color: 'grape',
    group: 'Flow',
    choice: { kind: 'forEach' },
  },
  {
    key: 'repeat',
    label: 'Repeat until',
    description: 'A group of nodes that runs again until a condition holds.',
    needs: '',
    icon: IconRefresh,
    color: 'grape',
    group: 'Flow',
    choice: { kind: 'repeat' },
  },
  {
    key: 'group',
    label: 'Group',
    description: 'Nodes that are retried, timed out and handled on error together.',
    needs: '',
    icon: IconBoxMultiple,
    color: 'grape',
    group: 'Flow',
    choice: { kind: 'group' },
  },
  {
    key: 'wait',
    label: 'Wait',
    description: schemas.steps['wait']?.description ?? '',
    needs: '',
    icon: IconClockPause,
    color: 'yellow',
    group: 'Flow',
    choice: { kind: 'wait' },
  },
  ...Object.entries(schemas.steps)
    .filter(([kind]) => kind === 'workflow')
    .map(
      ([key, { description = '' }]): Offer => ({
        key,
        label: 'Run workflow',
        description,
        needs: '',
        icon: IconSitemap,
        color: 'windlass',
        group: 'Flow',
        choice: { kind: 'workflow' },
      }),
    ),
  {
    key: 'fail',
    label: 'Fail',
    description: schemas.steps['fail']?.description ?? '',
    needs: '',
    icon: IconAlertOctagon,
    color: 'red',
    group: 'Flow',
    choice: { kind: 'fail' },
  },
];

const STARTS: Offer[] = TRIGGERS.map(({ kind, label, starts, icon, credentials }) => ({
  key: kind,
  label,
  description: `${starts}.`,
  needs: credentials.join(' or '),
  icon,
  color: 'orange',
  group: 'Triggers',
  choice: { kind: 'trigger', trigger: kind, credentials },
}));

/** Words that people search for, by the key of the offer: tasks, and the names of nodes in n8n. */
const SEARCHED: Record<string, string> = {
  agent:
    'ai agent llm chain language model gpt claude prompt tools memory chatbot classify extract summarize',
  chat: 'chat trigger chatbot conversation assistant page',
  set: 'edit fields expression cel sum count filter sort limit aggregate summarize split group rename date time merge map',
  code: 'javascript function compute',
  fail: 'stop and error throw',
  forEach: 'loop over items split in batches each iterate',
  repeat: 'loop while poll again retry',
  group: 'scope try catch block error loop',
  wait: 'sleep pause delay timer callback webhook resume',
  workflow: 'execute workflow sub-workflow child call',
  remove_duplicates: 'deduplicate dedupe unique',
  response: 'respond to webhook reply answer',
};

/** The nodes that match all words. Matches in names come before matches in descriptions. */
export function offers(what: 'steps' | 'triggers', text: string): Offer[] {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const all = what === 'steps' ? STEPS : STARTS;
  const rank = ({ label, key }: Offer) =>
    words.every((word) => `${label} ${key}`.toLowerCase().includes(word)) ? 0 : 1;
  return all
    .filter(({ label, key, description, needs }) => {
      const all = `${label} ${key} ${description} ${needs} ${SEARCHED[key] ?? ''}`.toLowerCase();
      return words.every((word) => all.includes(word));
    })
    .toSorted((one, other) => rank(one) - rank(other));
}
