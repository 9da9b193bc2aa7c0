/** The nodes to choose from in the gallery, by category, built from the schemas. Pure. */
import { ACCEPTED_CREDENTIALS } from '../../../api/credentialKinds.ts';
import type { StepKind } from '../../../api/step.ts';
import { kindHelp } from '../../forms/kindHelp.ts';
import type { Schemas, SkillSchema } from '../../forms/schemas.ts';
import { skillLabel } from '../../workflows/kinds.ts';
import { TRIGGERS } from '../../workflows/triggers.ts';
import type { Choice } from '../canvas/newNode.ts';
import { MAILBOXES, MESSENGERS, SKILL_CATEGORIES, STORES, TABLES, type Brand } from './skillCategories.ts';
import { SYNONYMS } from './synonyms.ts';

export type Offer = {
  key: string;
  label: string;
  description: string;
  category: string;
  /** The kinds of credentials of which one is required; empty: none. */
  needs: readonly string[];
  brands: readonly Brand[];
  /** Further words that people search for. */
  synonyms: string;
  /** A color of the theme. */
  color: string;
  /** What is added. `switch`: several branches at once. */
  choice: Choice | { kind: 'switch' };
};

const TRIGGER_BRANDS: Record<string, readonly Brand[]> = {
  mail: MAILBOXES,
  bot: MESSENGERS,
  spreadsheet: TABLES,
  fileStorage: [...STORES, 'OneDrive'],
};

/** The order of the categories. Others follow by name. */
const CATEGORIES = ['AI', 'Messages', 'Web', 'Data', 'Sheets and files', 'Flow'];

type Words = Pick<Offer, 'key' | 'label' | 'description' | 'category' | 'color' | 'choice'>;

function offer(words: Words, more: Partial<Pick<Offer, 'needs' | 'brands'>> = {}): Offer {
  return { needs: [], brands: [], synonyms: SYNONYMS[words.key] ?? '', ...words, ...more };
}

/** The steps to choose from, in the order of their categories. */
export function stepOffers({ steps, skills }: Pick<Schemas, 'steps' | 'skills'>): Offer[] {
  const describe = (kind: StepKind) => kindHelp(kind, { triggers: {}, steps }) ?? '';
  const all = [
    offer(
      {
        key: 'agent',
        label: 'Agent',
        description: describe('agent'),
        category: 'AI',
        color: 'violet',
        choice: { kind: 'agent' },
      },
      { needs: ACCEPTED_CREDENTIALS.agent, brands: ['OpenAI', 'Anthropic'] },
    ),
    ...skills.map(skillOffer),
    offer({
      key: 'response',
      label: 'Response',
      description: describe('response'),
      category: 'Web',
      color: 'green',
      choice: { kind: 'response' },
    }),
    offer({
      key: 'code',
      label: 'Code',
      description: describe('code'),
      category: 'Data',
      color: 'windlass',
      choice: { kind: 'code' },
    }),
    ...flowOffers(describe),
  ];
  return all.toSorted((one, other) => rankOf(one) - rankOf(other));
}

function flowOffers(describe: (kind: StepKind) => string): Offer[] {
  const flow = (words: Omit<Words, 'category' | 'color'> & { color?: string }) =>
    offer({ category: 'Flow', color: 'grape', ...words });
  return [
    flow({
      key: 'switch',
      label: 'Switch',
      description: 'Several labeled branches, each with a condition, and an Otherwise branch.',
      choice: { kind: 'switch' },
    }),
    flow({
      key: 'forEach',
      label: 'Loop over items',
      description: 'A group of nodes that runs once for each item of a list. Each item is $item.',
      choice: { kind: 'forEach' },
    }),
    flow({
      key: 'repeat',
      label: 'Repeat until',
      description: 'A group of nodes that runs again until a condition holds.',
      choice: { kind: 'repeat' },
    }),
    flow({
      key: 'group',
      label: 'Group',
      description: 'Nodes that are retried, timed out and handled on error together.',
      choice: { kind: 'group' },
    }),
    flow({
      key: 'wait',
      label: 'Wait',
      description: describe('wait'),
      color: 'yellow',
      choice: { kind: 'wait' },
    }),
    flow({
      key: 'workflow',
      label: 'Run workflow',
      description: describe('workflow'),
      color: 'windlass',
      choice: { kind: 'workflow' },
    }),
    flow({
      key: 'fail',
      label: 'Fail',
      description: describe('fail'),
      color: 'red',
      choice: { kind: 'fail' },
    }),
  ];
}

function skillOffer({ name, description, credentials, credentialIsOptional }: SkillSchema): Offer {
  const { category = 'Other', brands = [] } = SKILL_CATEGORIES[name] ?? {};
  return offer(
    {
      key: name,
      label: skillLabel(name),
      description,
      category,
      color: 'windlass',
      choice: { kind: 'skill', name, credentials, isOptional: credentialIsOptional },
    },
    { needs: credentialIsOptional ? [] : credentials, brands },
  );
}

function rankOf({ category }: Offer): number {
  const rank = CATEGORIES.indexOf(category);
  return rank === -1 ? CATEGORIES.length : rank;
}

/** The triggers to choose from. */
export const TRIGGER_OFFERS: readonly Offer[] = TRIGGERS.map(({ kind, label, starts, credentials }) =>
  offer(
    {
      key: kind,
      label,
      description: `${starts}.`,
      category: 'Triggers',
      color: 'orange',
      choice: { kind: 'trigger', trigger: kind, credentials },
    },
    { needs: credentials, brands: TRIGGER_BRANDS[kind] ?? [] },
  ),
);
