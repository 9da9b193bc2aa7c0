/** Workflows with mistakes, which are the same each time. */

/** Numbers that look random and are the same each time (mulberry32). */
export function randoms(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const VALUES: unknown[] = [
  null,
  undefined,
  0,
  -1,
  1e300,
  true,
  '',
  '=',
  '={{ $json.a.b }}',
  '={{',
  '={{ }} }}',
  '={{ $("Nobody").item.json.x }}',
  "{{ $('x') }}",
  [],
  {},
  [null],
  { __rl: true },
  '\u0000',
  'x'.repeat(5000),
];

/** The value with some of its members replaced or removed. */
export function mutated(value: unknown, random: () => number): unknown {
  if (random() < 0.02) return VALUES[Math.floor(random() * VALUES.length)];
  if (Array.isArray(value)) return value.filter(() => random() > 0.02).map((each) => mutated(each, random));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(() => random() > 0.02)
      .map(([name, each]) => [name, mutated(each, random)]),
  );
}
