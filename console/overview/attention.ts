/**
 * What needs attention: credentials that do not work or that expire without renewal, and workflows with a
 * problem.
 */
import { textCell, type Row } from '../kube/table.ts';
import { credentialKindLabel } from '../credentials/kindLabels.ts';
import { withoutCommand } from '../credentials/commandText.ts';
import { withoutRequest } from '../credentials/connectText.ts';
import { credentialState } from '../credentials/state.ts';
import { count } from '../ui/format.ts';
import { reasonLabel, type WorkflowItem } from '../workflows/items.ts';

export type Attention = {
  of: 'credential' | 'workflow';
  name: string;
  title: string;
  kind: string;
  isBroken: boolean;
  label: string;
  message: string;
};

/** Broken credentials come before the workflows that fail because of them; what still works comes last. */
export function needingAttention(items: readonly WorkflowItem[], credentials: Row[]): Attention[] {
  const found = credentialsNeedingAttention(credentials);
  return [
    ...found.filter(({ isBroken }) => isBroken),
    ...workflowsNeedingAttention(items),
    ...found.filter(({ isBroken }) => !isBroken),
  ];
}

/** How many of these are of each kind, in words: "2 credentials and 9 workflows". */
export function attentionCounts(all: readonly Attention[]): string {
  const counted = (['credential', 'workflow'] as const)
    .map((of) => ({ of, number: all.filter((each) => each.of === of).length }))
    .filter(({ number }) => number > 0);
  return counted.map(({ of, number }) => count(number, of)).join(' and ');
}

/**
 * Broken credentials come first. Renewed tokens expire too, often within an hour: the reason tells them
 * apart.
 */
function credentialsNeedingAttention(rows: Row[]): Attention[] {
  return rows
    .flatMap((row) => {
      const reason = textCell(row, 'Reason') ?? '';
      const isBroken = textCell(row, 'Ready') === 'False';
      if (!isBroken && !['Expiring', 'MissingScope'].includes(reason)) return [];
      const { word, advice } = credentialState({ status: textCell(row, 'Ready'), reason });
      return [
        {
          of: 'credential' as const,
          name: row.metadata.name,
          title: row.metadata.name,
          kind: credentialKindLabel(textCell(row, 'Kind')),
          isBroken,
          label: reasonLabel(word === '' ? 'NotReady' : word),
          message: messageOf(withoutRequest(textCell(row, 'Message') ?? ''), advice),
        },
      ];
    })
    .toSorted((a, b) => Number(b.isBroken) - Number(a.isBroken) || a.name.localeCompare(b.name));
}

/** With what to do in the console in place of a command. */
function messageOf(message: string, advice: string | undefined): string {
  const { text, command } = withoutCommand(message);
  return command === undefined || advice === undefined ? message : `${text} ${advice}`;
}

/** Active workflows that do not run until someone acts, by title. */
function workflowsNeedingAttention(items: readonly WorkflowItem[]): Attention[] {
  return items
    .filter(({ active, state }) => active && state.kind === 'attention')
    .map(({ name, title, state: { label, message = '', isServed = false } }) => ({
      of: 'workflow' as const,
      name,
      title,
      kind: 'Workflow',
      isBroken: !isServed,
      label,
      message,
    }))
    .toSorted((a, b) => a.title.localeCompare(b.title));
}
