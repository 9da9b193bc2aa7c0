import * as z from 'zod';
import { describe, expect, test } from 'vitest';
import { crdOf, rootSchema, structural } from './crd.ts';
import { KINDS } from './kinds.ts';

type Schema = {
  description?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: Schema;
};

function withoutDescription(schema: Schema, path: string): string[] {
  const own = schema.description ? [] : [path];
  const below = Object.entries(schema.properties ?? {}).flatMap(([name, child]) =>
    withoutDescription(child, `${path}.${name}`),
  );
  return [
    ...own,
    ...below,
    ...(schema.items?.properties ? withoutDescription(schema.items, `${path}[]`) : []),
  ];
}

describe.each(KINDS)('$kind', (kind) => {
  test('has a description on every field that it defines', () => {
    const { spec, status } = (rootSchema(kind) as Schema).properties ?? {};
    const missing = [spec, status].flatMap((part, index) =>
      part ? withoutDescription(part, ['spec', 'status'][index] ?? '') : [],
    );
    expect(missing.filter((path) => !path.endsWith('[]'))).toEqual([]);
  });

  test('belongs to the category that `kubectl get windlass` shows', () => {
    expect(crdOf(kind).spec).toMatchObject({ names: { categories: ['windlass'] }, scope: 'Namespaced' });
  });
});

describe('a structural schema', () => {
  const convert = (schema: z.ZodType) =>
    structural(z.toJSONSchema(schema, { target: 'openapi-3.0', io: 'input', unrepresentable: 'any' }));

  test('keeps free JSON unknown to the API server', () => {
    const schema = z.object({
      any: z.unknown().optional().meta({ 'x-kubernetes-preserve-unknown-fields': true }),
    });
    expect(convert(schema)).toEqual({
      type: 'object',
      properties: { any: { 'x-kubernetes-preserve-unknown-fields': true } },
    });
  });

  test('does not carry the bounds of safe integers', () => {
    expect(convert(z.int())).toEqual({ type: 'integer' });
    expect(convert(z.int().min(1).max(5))).toEqual({ type: 'integer', minimum: 1, maximum: 5 });
  });

  test('says date-time by its format alone', () => {
    expect(convert(z.iso.datetime())).toEqual({ type: 'string', format: 'date-time' });
  });

  test('refuses a union, and says where', () => {
    expect(() => convert(z.object({ value: z.union([z.string(), z.number()]) }))).toThrow(
      'spec.value: a CRD schema cannot have "anyOf"',
    );
  });
});
