/** What providers do with JSON Schemas that their server does not take. */
import { isRecord } from '../../api/record.ts';

/** Asks for JSON in words. */
export function schemaInWords(schema: unknown): string {
  return `Answer with JSON alone, which must fit this JSON Schema: ${JSON.stringify(schema)}`;
}

/** Members of a schema whose keys are names, not keywords. */
const NAMED: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions']);

/** A value with schemas in it, without these keywords of schemas. */
export function withoutKeywords<T>(value: T, keywords: readonly string[]): T;
export function withoutKeywords(value: unknown, keywords: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((each: unknown) => withoutKeywords(each, keywords));
  if (!isRecord(value)) return value;
  const rest = Object.entries(value).filter(([key]) => !keywords.includes(key));
  return Object.fromEntries(
    rest.map(([key, child]) => [
      key,
      NAMED.has(key) && isRecord(child)
        ? Object.fromEntries(
            Object.entries(child).map(([name, schema]) => [name, withoutKeywords(schema, keywords)]),
          )
        : withoutKeywords(child, keywords),
    ]),
  );
}
