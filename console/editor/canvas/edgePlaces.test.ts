import { getBezierPath, Position } from '@xyflow/react';
import { expect, test } from 'vitest';
import { BUTTON, BUTTONS, buttonsPlace, HIT_WIDTH, labelPlace } from './edgePlaces.ts';

type Ends = ReturnType<typeof ends>;
type Box = { left: number; top: number; right: number; bottom: number };

const ends = (targetX: number, targetY: number) => ({ sourceX: 0, sourceY: 0, targetX, targetY });
const steps = (from: number, to: number, by: number) =>
  Array.from({ length: Math.floor((to - from) / by) + 1 }, (_, at) => from + at * by);
const some = steps(60, 400, 20).flatMap((x) => steps(-240, 240, 4).map((y) => ends(x, y)));

const LABEL_HEIGHT = 20;

function buttonsOf(edge: Ends, labels: number): Box {
  const { x, y, side } = buttonsPlace(edge, labels);
  const top = side === 'above' ? y - BUTTON : y;
  return { left: x, top, right: x + BUTTONS, bottom: top + BUTTON };
}

function labelOf(edge: Ends, rank: number): Box {
  const { x, y, width } = labelPlace(edge, rank);
  return { left: x - width, top: y - LABEL_HEIGHT, right: x, bottom: y };
}

const covers = (one: Box, other: Box) =>
  one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;

/** Points of the line that is drawn. */
function pointsOf(edge: Ends): { x: number; y: number }[] {
  const [path] = getBezierPath({ ...edge, sourcePosition: Position.Right, targetPosition: Position.Left });
  const [x0 = 0, y0 = 0, x1 = 0, y1 = 0, x2 = 0, y2 = 0, x3 = 0, y3 = 0] = path
    .slice(1)
    .split(/[ ,C]+/)
    .map(Number);
  const at = (t: number, [a, b, c, d]: readonly [number, number, number, number]) =>
    (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t ** 2 * c + t ** 3 * d;
  return steps(0, 50, 1).map((step) => ({
    x: at(step / 50, [x0, x1, x2, x3]),
    y: at(step / 50, [y0, y1, y2, y3]),
  }));
}

test('the buttons of a connection are outside of where it is clicked', () => {
  const isClicked = ({ left, top, right, bottom }: Box, { x, y }: { x: number; y: number }) =>
    x > left && x < right && y > top - HIT_WIDTH / 2 && y < bottom + HIT_WIDTH / 2;
  const covered = some.filter((edge) => {
    const points = pointsOf(edge);
    return [0, 1, 2].some((labels) => points.some((point) => isClicked(buttonsOf(edge, labels), point)));
  });
  expect(covered).toEqual([]);
});

test.each([1, 2, 3])('the buttons of a connection lie on none of the %i labels at its end', (labels) => {
  const covered = some.filter((edge) =>
    steps(0, labels - 1, 1).some((rank) => covers(buttonsOf(edge, labels), labelOf(edge, rank))),
  );
  expect(covered).toEqual([]);
});

test('the buttons of a level connection are clear of the connections beside it, and of near cards', () => {
  const isCovered = ({ left, top, right, bottom }: Box, { x, y }: { x: number; y: number }) =>
    x > left && x < right && y > top && y < bottom;
  const beside = [-208, -104, 104, 208];
  const covered = steps(160, 400, 20).filter((x) =>
    beside.some((row) => pointsOf(ends(x, row)).some((point) => isCovered(buttonsOf(ends(x, 0), 1), point))),
  );
  expect(covered).toEqual([]);
  // From the end of one handle to that of the next one, between cards that are 80 pixels apart.
  const { left, right } = buttonsOf(ends(69, 0), 0);
  expect([left > -6, right < 74]).toEqual([true, true]);
});

test('the buttons of a branch lie on no label of another one', () => {
  const rows = steps(-416, 416, 104);
  const covered = steps(60, 400, 20).flatMap((x) =>
    rows.filter((row) =>
      rows.some((other) => covers(buttonsOf(ends(x, row), 1), labelOf(ends(x, other), 0))),
    ),
  );
  expect(covered).toEqual([]);
});

test('each label is above the end of its connection, so that those out of one node are apart', () => {
  const places = [0, 104, 208].map((y) => labelPlace(ends(80, y), 0));
  expect(places.every(({ x, y }, row) => x < 80 && y < row * 104 && y > row * 104 - 20)).toBe(true);
  const [one, other] = [labelPlace(ends(80, 0), 0), labelPlace(ends(80, 0), 1)];
  expect(one.y - other.y).toBeGreaterThanOrEqual(20);
});
