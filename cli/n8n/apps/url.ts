/** URLs of the APIs of services. */
import { textOf } from '../model/json.ts';
import { type Value, constant, valueOf } from '../expressions/value.ts';

/** A URL of constants and values, which references encode for their place. */
export function urlOf(base: string, ...rest: unknown[]): Value {
  const values = rest.map((raw) =>
    valueOf(typeof raw === 'number' ? String(raw) : textOf(raw) || 'replace-me'),
  );
  if (values.every(({ kind }) => kind === 'constant'))
    return constant(
      [
        base,
        ...values.map((value) => encodeURIComponent(textOf(value.kind === 'constant' ? value.value : ''))),
      ].join('/'),
    );
  const parts = values.flatMap((value) => [
    { text: '/' },
    ...(value.kind === 'text'
      ? value.parts
      : [{ text: textOf(value.kind === 'constant' ? value.value : '') }]),
  ]);
  return { kind: 'text', parts: [{ text: base }, ...parts] };
}
