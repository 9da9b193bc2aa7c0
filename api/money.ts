/** Amounts of money as integers: nano-units, a billionth of the unit of a currency. No floating point. */

const NANO_DIGITS = 9;
const NANO = 10n ** BigInt(NANO_DIGITS);

/** A decimal text that nano-units can represent: at most a million, with at most nine decimal places. */
export const AMOUNT_PATTERN = /^(0|[1-9][0-9]{0,5}|1000000)(\.[0-9]{1,9})?$/;

/** The nano-units of a decimal text such as `0.50`; undefined if it is not one (`AMOUNT_PATTERN`). */
export function parseAmount(text: string): number | undefined {
  if (!AMOUNT_PATTERN.test(text)) return undefined;
  const [units = '0', fraction = ''] = text.split('.');
  return Number(BigInt(units) * NANO + BigInt(fraction.padEnd(NANO_DIGITS, '0')));
}

/** The decimal text of nano-units, without zeros at its end. At least two decimal places. */
export function amountText(nano: number): string {
  const whole = BigInt(nano);
  const sign = whole < 0n ? '-' : '';
  const digits = String(whole < 0n ? -whole : whole).padStart(NANO_DIGITS + 1, '0');
  const fraction = digits.slice(-NANO_DIGITS).replace(/0+$/, '').padEnd(2, '0');
  return `${sign}${digits.slice(0, -NANO_DIGITS)}.${fraction}`;
}
