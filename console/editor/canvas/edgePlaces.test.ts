import { expect, test } from 'vitest';
import { buttonsPlace, HIT_WIDTH, labelPlace } from './edgePlaces.ts';

const ends = (targetX: number, targetY: number) => ({ sourceX: 0, sourceY: 0, targetX, targetY });

test.each([
  ['a short level connection', ends(69, 0)],
  ['a connection that falls a little', ends(300, 100)],
  ['a connection that rises a little', ends(300, -100)],
])('the buttons of %s are below it, outside of where it is clicked', (_what, edge) => {
  const { x, y, side } = buttonsPlace(edge);
  expect({ x, side }).toEqual({ x: edge.targetX / 2, side: 'below' });
  expect(y - edge.targetY / 2).toBeGreaterThan(HIT_WIDTH / 2);
});

test.each([
  ['down', ends(80, 208)],
  ['up', ends(80, -208)],
])('the buttons of a steep connection %s are to the right of it', (_way, edge) => {
  const { x, y, side } = buttonsPlace(edge);
  expect({ y, side }).toEqual({ y: edge.targetY / 2, side: 'right' });
  expect(x - 40).toBeGreaterThan(HIT_WIDTH / 2);
});

test('each label is above the end of its connection, so that those out of one node are apart', () => {
  const places = [0, 104, 208].map((y) => labelPlace(ends(80, y), 0));
  expect(places.every(({ x, y }, row) => x < 80 && y < row * 104 && y > row * 104 - 20)).toBe(true);
  const [one, other] = [labelPlace(ends(80, 0), 0), labelPlace(ends(80, 0), 1)];
  expect(one.y - other.y).toBeGreaterThanOrEqual(20);
});
