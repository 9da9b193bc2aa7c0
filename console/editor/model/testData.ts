/** The input of test runs: the trigger's test data, or an example event of its kind. */
import { parseExact } from '../../../api/exact/exactNumber.ts';
import type { TriggerKind } from '../../../api/triggerKinds.ts';
import type { WorkflowNode } from '../../../api/workflow.ts';
import type { NodeOutputs } from '../../runs/live/lastResults.ts';
import { nodeKind } from '../../workflows/kinds.ts';
import { isRecord } from '../../../api/record.ts';

const EXAMPLE_TIME = '2026-01-31T08:00:00Z';

const data = (data_content: unknown, text_content?: string) => ({
  ...(text_content !== undefined && { text_content }),
  data_content,
});

const EXAMPLES: Record<TriggerKind, object> = {
  manual: {},
  webhook: data({ name: 'Ada', items: [{ name: 'lamp', quantity: 2 }] }),
  schedule: data({ scheduled_time: EXAMPLE_TIME, fired_time: EXAMPLE_TIME, time_zone: 'UTC' }, EXAMPLE_TIME),
  mail: data(
    {
      from: 'ada@example.com',
      to: 'orders@example.com',
      subject: 'A question',
      date: EXAMPLE_TIME,
      message_id: '<1@example.com>',
      html: '',
      attachments: [],
    },
    'When does my order arrive?',
  ),
  spreadsheet: data(
    {
      spreadsheet_id: 'example',
      changes: [
        { sheet: 'Sheet1', row: 2, event: 'added', values: { Name: 'Ada', Amount: 3 }, previous: null },
      ],
    },
    '1 row was added.',
  ),
  fileStorage: data(
    {
      event: 'added',
      file: {
        id: 'example',
        name: 'report.pdf',
        mime_type: 'application/pdf',
        size: 12_345,
        modified_time: EXAMPLE_TIME,
        folder_id: 'folder',
        url: 'https://files.example.com/report.pdf',
      },
    },
    'report.pdf',
  ),
  chat: data({ session: 'example', message: 'Hello', id: '1' }, 'Hello'),
  bot: data({ chat_id: 1, from: { first_name: 'Ada', username: 'ada' }, message_type: 'text' }, 'Hello'),
};

/** The kind of a trigger; `manual` if the node has none. */
export function triggerKind(trigger: WorkflowNode | undefined): TriggerKind {
  const kind = trigger && nodeKind(trigger);
  return kind !== undefined && kind in EXAMPLES ? (kind as TriggerKind) : 'manual';
}

export function testDataOf(trigger: WorkflowNode | undefined): object {
  const kind = triggerKind(trigger);
  return (trigger?.[kind]?.testData as object | undefined) ?? EXAMPLES[kind];
}

/**
 * The initial test data of the dialog: that of the trigger, or else the last real event. Undefined if there
 * is neither, or if the event is truncated.
 */
export function prefilled(
  trigger: WorkflowNode | undefined,
  real: { output: NodeOutputs; truncated: boolean } | undefined,
): object | undefined {
  const kind = triggerKind(trigger);
  const own = trigger?.[kind]?.testData as object | undefined;
  return own ?? (real === undefined || real.truncated ? undefined : asTestData(kind, real.output));
}

/** What a tab remembers of the dialog: the text that a test run had, and what it was before. */
export type RememberedEvent = { kind: TriggerKind; example: string; text: string };

/** The text of the last test run of this tab, unless the trigger or its test data is another one since. */
export function rememberedText(
  stored: unknown,
  { kind, example }: Pick<RememberedEvent, 'kind' | 'example'>,
): string | undefined {
  const { text, ...before } = isRecord(stored) ? stored : {};
  if (before['kind'] !== kind || before['example'] !== example) return undefined;
  return typeof text === 'string' ? text : undefined;
}

/** The input of a run in the form of test data. */
export function asTestData(
  kind: TriggerKind,
  { text_content, data_content }: { text_content?: string | undefined; data_content?: unknown },
): object {
  if (kind === 'manual') return isRecord(data_content) ? data_content : {};
  return data(data_content ?? null, text_content === '' ? undefined : text_content);
}

/** The node with this test data. The API server rounds numbers, so that objects hold rounded ones. */
export function withTestData(node: WorkflowNode, testData: object): WorkflowNode {
  const kind = triggerKind(node);
  return { ...node, [kind]: { ...node[kind], testData: JSON.parse(JSON.stringify(testData)) as object } };
}

/** `moved`: with the unknown fields in `data_content`, where they most likely belong. */
export type ReadTestData = { ok: true; value: object } | { ok: false; message: string; moved?: object };

/** Parses typed test data. */
export function readTestData(kind: TriggerKind, text: string): ReadTestData {
  const parsed = parse(text.trim() === '' ? '{}' : text);
  if (!parsed.ok) return parsed;
  const { value } = parsed;
  if (!isRecord(value)) return { ok: false, message: 'Enter a JSON object: { … }.' };
  if (kind === 'manual') return { ok: true, value };
  const other = Object.keys(value).find((name) => name !== 'text_content' && name !== 'data_content');
  if (other !== undefined) {
    const moved = withMoved(value);
    return {
      ok: false,
      ...(moved !== undefined && { moved }),
      message: `Unknown field "${other}". The test data of this trigger has text_content and data_content: move it into data_content.`,
    };
  }
  if (value['text_content'] !== undefined && typeof value['text_content'] !== 'string')
    return { ok: false, message: 'text_content must be a string.' };
  return { ok: true, value };
}

/**
 * The event whose `data_content` has the other fields, too. Undefined: the value cannot have them,
 * or one of their names is taken there, or the text is none, so that something would be lost.
 */
function withMoved({
  text_content,
  data_content = {},
  ...others
}: Record<string, unknown>): object | undefined {
  const isLost = text_content !== undefined && typeof text_content !== 'string';
  if (!isRecord(data_content) || isLost) return undefined;
  if (Object.keys(others).some((name) => Object.hasOwn(data_content, name))) return undefined;
  return data({ ...others, ...data_content }, text_content);
}

function parse(text: string): { ok: true; value: unknown } | { ok: false; message: string } {
  try {
    return { ok: true, value: parseExact(text) };
  } catch (error) {
    return { ok: false, message: `Invalid JSON: ${error instanceof Error ? error.message : ''}` };
  }
}
