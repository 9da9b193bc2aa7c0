/** The pinned output of one node of a draft. Pure. */

/** The output that a test run gives to a node. */
export type Pin = { text_content: string; data_content: unknown };
export type Pins = Readonly<Record<string, Pin>>;

type Pinned = { readonly pins?: Pins };

/** An ID may be the name of an inherited member, such as constructor. */
export function pinOf({ pins = {} }: Pinned, id: string): Pin | undefined {
  return Object.hasOwn(pins, id) ? pins[id] : undefined;
}

export function withPin<T extends Pinned>(draft: T, id: string, pin: Pin): T {
  return { ...draft, pins: { ...draft.pins, [id]: pin } };
}

export function withoutPin<T extends Pinned>(draft: T, id: string): T {
  const { [id]: _gone, ...others } = draft.pins ?? {};
  if (Object.keys(others).length > 0) return { ...draft, pins: others };
  const { pins: _none, ...rest } = draft;
  return rest as T;
}
