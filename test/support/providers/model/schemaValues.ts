/** Values that fit a JSON Schema, as the model of tests and the demo makes them up from a prompt. */

type Schema = {
  type?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  enum?: unknown[];
  maxLength?: number;
};

/** Words that show which choice of an `enum` a prompt is about, beside the choice itself. */
const SIGNS: Readonly<Record<string, RegExp>> = {
  urgent: /\b(urgent|immediately|outage|is down)\b/i,
  billing: /\b(invoice|charged|payment|refund)\b/i,
  spam: /\b(lottery|winner|prize)\b/i,
};

/**
 * A value that fits the schema. Of choices that one which the prompt shows (`SIGNS`), else the first one. A
 * member `summary` is the last paragraph of the prompt.
 */
export function valueFor(schema: unknown, prompt: string, name = ''): unknown {
  const { type, properties = {}, items, enum: choices, maxLength = 200 } = (schema ?? {}) as Schema;
  if (choices) return choices.find((choice) => SIGNS[String(choice)]?.test(prompt)) ?? choices[0];
  if (type === 'object') {
    const members = Object.entries(properties);
    return Object.fromEntries(members.map(([key, child]) => [key, valueFor(child, prompt, key)]));
  }
  if (type === 'array') return items ? [valueFor(items, prompt)] : [];
  if (name === 'summary') return lastParagraphOf(prompt).slice(0, maxLength);
  return { integer: 1, number: 1.5, boolean: true, null: null }[type ?? ''] ?? 'text';
}

function lastParagraphOf(text: string): string {
  const paragraphs = text.trim().split(/\n\s*\n/);
  return (paragraphs.at(-1) ?? '').replaceAll(/\s+/g, ' ');
}
