/**
 * Renames nodes inside expressions: `$('old')` in text, `nodes.old` in CEL. Everything else stays unchanged.
 */
import type { WorkflowEdge, WorkflowNode } from '../../../api/workflow.ts';
import { isEqual } from '../../kube/patch.ts';

/** New IDs by old ones. */
export type Renaming = ReadonlyMap<string, string>;

/** References start right after the braces, so `$('old')` in plain text is none. `$url('old')` is one. */
const IN_TEXT = /(\{\{\s*\$(?:url)?\(\s*)(['"])([A-Za-z]\w*)\2/g;

export function renameInText(text: string, renaming: Renaming): string {
  return text.replace(IN_TEXT, (whole, before: string, quote: string, id: string) => {
    const next = renaming.get(id);
    return next === undefined ? whole : `${before}${quote}${next}${quote}`;
  });
}

/** Node references by dot or key, or quoted text, so that nothing inside quotes counts as a reference. */
const IN_CEL =
  /(?<dotted>(?<![\w.$])nodes\s*\.\s*)(?<name>[A-Za-z]\w*)|(?<keyed>(?<![\w.$])nodes\s*\[\s*)(?<quote>["'])(?<key>[A-Za-z]\w*)\k<quote>|"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'/g;

type InCel = { dotted?: string; name?: string; keyed?: string; quote?: string; key?: string };

export function renameInCel(source: string, renaming: Renaming): string {
  return source.replace(IN_CEL, (whole: string, ...match: unknown[]) => {
    const { dotted, name, keyed, quote = '', key } = match.at(-1) as InCel;
    const next = renaming.get(name ?? key ?? '');
    if (next === undefined) return whole;
    return dotted === undefined ? `${keyed}${quote}${next}${quote}` : `${dotted}${next}`;
  });
}

/** The node with renamed references; the same object if it has none. */
export function renameInNode(node: WorkflowNode, renaming: Renaming): WorkflowNode {
  const { id, displayName, within, repeat, ...fields } = node;
  const { values, ...parameters } = node.skill?.name === 'set' ? (node.skill.parameters ?? {}) : {};
  const texts = (text: string) => renameInText(text, renaming);
  const renamed = mapTexts(fields, texts) as typeof fields;
  if (values !== undefined && renamed.skill !== undefined)
    renamed.skill = {
      ...renamed.skill,
      parameters: {
        ...(mapTexts(parameters, texts) as typeof parameters),
        values: mapTexts(values, (source) => renameInCel(source, renaming)),
      },
    };
  const next = {
    id,
    ...(displayName !== undefined && { displayName }),
    ...renamed,
    ...(within !== undefined && { within: renaming.get(within) ?? within }),
    ...(repeat && {
      repeat: {
        ...(mapTexts(repeat, texts) as typeof repeat),
        // A draft may lack it.
        ...(typeof repeat.until === 'string' && { until: renameInCel(repeat.until, renaming) }),
      },
    }),
  };
  return isEqual(next, node) ? node : next;
}

/** A value with renamed references in its texts, which are expressions in CEL or texts with references. */
export function renameInValue(value: unknown, renaming: Renaming, language: 'cel' | 'template'): unknown {
  const rename = language === 'cel' ? renameInCel : renameInText;
  return mapTexts(value, (text) => rename(text, renaming));
}

/** The edge between the renamed nodes, with its condition. */
export function renameInEdge(edge: WorkflowEdge, renaming: Renaming): WorkflowEdge {
  return {
    ...edge,
    from: renaming.get(edge.from) ?? edge.from,
    to: renaming.get(edge.to) ?? edge.to,
    ...(edge.when !== undefined && { when: renameInCel(edge.when, renaming) }),
  };
}

/** Replaces all strings of the value, but no keys, which are not expressions. */
function mapTexts(value: unknown, replace: (text: string) => string): unknown {
  if (typeof value === 'string') return replace(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, replace));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, mapTexts(inner, replace)]));
}
