import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createInFlight } from './inFlight.ts';

const MIB = 1_048_576;

test('released memory is free again, once', () => {
  const inFlight = createInFlight(MIB, MIB / 8);
  const reservation = inFlight.reserve();
  expect(reservation?.growTo(1_000)).toBe(true);
  expect(inFlight.bytes()).toBeGreaterThan(1_000);
  reservation?.release();
  reservation?.release();
  expect(inFlight.bytes()).toBe(0);
});

test('the largest body fits while half of the memory is free', () => {
  const inFlight = createInFlight(16 * MIB, MIB);
  for (let bodies = 0; bodies < 7; bodies += 1) expect(inFlight.reserve()?.growTo(MIB)).toBe(true);
  expect(inFlight.fits(MIB)).toBe(true);
});

test('many large bodies leave room for small ones', () => {
  const inFlight = createInFlight(16 * MIB, MIB);
  const greedy = Array.from({ length: 1_000 }, () => inFlight.reserve());
  for (let size = 1_024; size <= MIB; size *= 2) for (const reservation of greedy) reservation?.growTo(size);
  expect(inFlight.bytes()).toBeGreaterThan(8 * MIB);
  expect(inFlight.fits(MIB)).toBe(false);
  expect(inFlight.reserve()?.growTo(1_000)).toBe(true);
});

test('requests without a body count, too', () => {
  const inFlight = createInFlight(MIB, MIB / 8);
  let open = 0;
  while (inFlight.reserve() !== undefined) open += 1;
  expect(open).toBeGreaterThan(10);
  expect(open).toBeLessThan(10_000);
});

test('reservations never exceed the limit', () => {
  const moves = fc.array(fc.record({ who: fc.nat(9), bytes: fc.nat(MIB / 2), ends: fc.boolean() }));
  fc.assert(
    fc.property(moves, (all) => {
      const inFlight = createInFlight(MIB, MIB / 2);
      const reservations = new Map<number, ReturnType<typeof inFlight.reserve>>();
      for (const { who, bytes, ends } of all) {
        const reservation = reservations.get(who) ?? inFlight.reserve();
        reservations.set(who, reservation);
        if (ends) reservation?.release();
        else reservation?.growTo(bytes);
        if (ends) reservations.delete(who);
        expect(inFlight.bytes()).toBeLessThanOrEqual(MIB);
      }
      for (const reservation of reservations.values()) reservation?.release();
      expect(inFlight.bytes()).toBe(0);
    }),
  );
});
