/** Quantities of Kubernetes, such as `500m` and `1Gi`, as far as rules compare them. */

const SUFFIXES: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

export class Quantity {
  readonly value: number;

  /** @throws RangeError for a text that is no quantity */
  constructor(text: string) {
    const [, number, suffix = ''] = /^([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)([A-Za-z]*)$/.exec(text) ?? [];
    const factor = SUFFIXES[suffix];
    if (number === undefined || factor === undefined) throw new RangeError(`${text} is no quantity`);
    this.value = Number(number) * factor;
  }
}
