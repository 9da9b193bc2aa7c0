/** Values of templates that stand for those of the project: addresses, hosts, spreadsheets, folders. Pure. */
import type { WorkflowSpec } from '../../api/workflow.ts';
import { isRecord } from '../../api/record.ts';

/** A value to replace, and what it is. */
export type Completion = { value: string; label: string };

const ADDRESS = /[\w.+-]+@example\.(?:com|org|net)\b/g;
const HOST = /\bhttps?:\/\/(?:[\w-]+\.)*example\.com\b/g;
const IDS: Readonly<Record<string, string>> = {
  spreadsheetId: 'Spreadsheet ID',
  spreadsheet_id: 'Spreadsheet ID',
  folderId: 'Folder ID',
};
/** Test data is an example, whatever project it is in. */
const LEFT = 'testData';

/** The values to complete, each once, in the order of the nodes. */
export function completionsOf({ nodes }: Pick<WorkflowSpec, 'nodes'>): Completion[] {
  const found = new Map<string, Completion>();
  const add = (value: string, label: string) => {
    if (!found.has(value)) found.set(value, { value, label });
  };
  visit(nodes, (text, key) => {
    const label = isId(text, key) ? IDS[key] : undefined;
    if (label !== undefined) return add(text, label);
    for (const [host] of text.matchAll(HOST)) add(host, 'Address of the API');
    for (const [address] of text.matchAll(ADDRESS)) add(address, `Email address: ${purposeOf(address)}`);
  });
  return [...found.values()];
}

/** `on-call` of `on-call@example.com`: templates have an address for each purpose. */
function purposeOf(address: string): string {
  return address.slice(0, address.indexOf('@'));
}

/** The spec with these values in place of those of the template. Empty ones stay as they are. */
export function completed<Spec extends Pick<WorkflowSpec, 'nodes'>>(
  spec: Spec,
  answers: ReadonlyMap<string, string>,
): Spec {
  const answerTo = (value: string) => {
    const answer = answers.get(value)?.trim() ?? '';
    return answer === '' ? value : answer;
  };
  const replaced = (text: string, key: string) =>
    isId(text, key) ? answerTo(text) : text.replaceAll(HOST, answerTo).replaceAll(ADDRESS, answerTo);
  return { ...spec, nodes: mapped(spec.nodes, replaced, '') as Spec['nodes'] };
}

/** A reference takes its value from the event. */
function isId(text: string, key: string): boolean {
  return Object.hasOwn(IDS, key) && text !== '' && !text.includes('{{');
}

function visit(value: unknown, see: (text: string, key: string) => void): void {
  mapped(
    value,
    (text, key) => {
      see(text, key);
      return text;
    },
    '',
  );
}

/** The value with each string in it replaced, but for test data. `key`: the member whose value it is. */
function mapped(value: unknown, change: (text: string, key: string) => string, key: string): unknown {
  if (typeof value === 'string') return change(value, key);
  if (Array.isArray(value)) return value.map((each: unknown) => mapped(each, change, key));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      name === LEFT ? member : mapped(member, change, name),
    ]),
  );
}
