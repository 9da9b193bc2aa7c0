import { expect, test } from 'vitest';
import { BUTTON, buttonsPlace, HIT_WIDTH, labelPlace } from './edgePlaces.ts';

const ends = (targetX: number, targetY: number) => ({ sourceX: 0, sourceY: 0, targetX, targetY });

test.each([
  ['a short level connection', ends(69, 0)],
  ['a connection that falls a little', ends(300, 20)],
  ['a connection that rises a little', ends(300, -40)],
])('the buttons of %s are below it, outside of where it is clicked', (_what, edge) => {
  const { x, y, side } = buttonsPlace(edge);
  expect({ x, side }).toEqual({ x: edge.targetX / 2, side: 'below' });
  expect(y - edge.targetY / 2).toBeGreaterThan(HIT_WIDTH / 2);
});

test.each([
  ['falls', ends(300, 100)],
  ['rises', ends(300, -100)],
])('the buttons of a connection that %s are above it, outside of where it is clicked', (_way, edge) => {
  const { x, y, side } = buttonsPlace(edge);
  expect({ x, side }).toEqual({ x: 150, side: 'above' });
  expect(edge.targetY / 2 - y).toBeGreaterThan(HIT_WIDTH / 2);
});

const BUTTONS_WIDTH = 84;

test('the buttons of a connection are beside its label, however far its ends are apart', () => {
  const steps = (from: number, to: number, by: number) =>
    Array.from({ length: (to - from) / by + 1 }, (_, at) => from + at * by);
  const edges = steps(60, 400, 20).flatMap((x) => steps(-240, 240, 4).map((y) => ends(x, y)));
  const covered = edges.filter((edge) => {
    const { x, y, side } = buttonsPlace(edge);
    const label = labelPlace(edge, 0);
    const left = side === 'right' ? x : x - BUTTONS_WIDTH / 2;
    const top = { above: y - BUTTON, below: y, right: y - BUTTON / 2 }[side];
    const isBeside = left > label.x || left + BUTTONS_WIDTH < label.x - label.width;
    return !isBeside && top < label.y && top + BUTTON > label.y - 20;
  });
  expect(covered).toEqual([]);
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
