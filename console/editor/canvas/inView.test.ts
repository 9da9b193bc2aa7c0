import { expect, test } from 'vitest';
import { CARD, STEP } from '../model/place.ts';
import {
  joinMoves,
  leastZoom,
  NEXT_BUTTON_ROOM,
  startViewport,
  type Viewport,
  viewportBefore,
  viewportFor,
  wholeViewport,
} from './inView.ts';

const size = { width: 700, height: 750 };
const start: Viewport = { x: 50, y: 300, zoom: 1 };
const place = (column: number, row = 0) => ({ x: column * STEP.x, y: row * STEP.y });

/** Whether the card is wholly on the screen. */
function sees({ x, y, zoom }: Viewport, at: { x: number; y: number }): boolean {
  const [left, top] = [at.x * zoom + x, at.y * zoom + y];
  const [right, bottom] = [left + CARD.width * zoom, top + CARD.height * zoom];
  return left >= 0 && top >= 0 && right <= size.width && bottom <= size.height;
}

test('a visible node does not move the viewport, even if related nodes are hidden', () => {
  expect(viewportFor([place(0)], start, size)).toBeUndefined();
  expect(viewportFor([place(9), place(1)], start, size)).toBeUndefined();
  expect(viewportFor([], start, size)).toBeUndefined();
});

test('the button that adds the next node is shown with the selected one', () => {
  const atEdge: Viewport = { ...start, x: size.width - CARD.width - 6 };
  expect(viewportFor([place(0)], atEdge, size)).toBeUndefined();
  const end = { ...place(0), isEnd: true };
  const next = viewportFor([end], atEdge, size) ?? atEdge;
  expect(next.x + CARD.width + NEXT_BUTTON_ROOM).toBeLessThanOrEqual(size.width);
  expect(viewportFor([end], next, size)).toBeUndefined();
});

test('a hidden canvas, which has no size, keeps its viewport', () => {
  expect(viewportFor([place(0)], start, { width: 0, height: 0 })).toBeUndefined();
});

test('a new node becomes visible with the node before it at the same zoom', () => {
  const next = viewportFor([place(1), place(2)], start, size) ?? start;
  expect(next.zoom).toBe(1);
  expect(next.y).toBe(start.y);
  expect([place(1), place(2)].map((at) => sees(next, at))).toEqual([true, true]);
});

test('the viewport moves no further than needed', () => {
  const next = viewportFor([place(1), place(2)], start, size) ?? start;
  expect(next.x).toBe(size.width - 76 - (place(2).x + CARD.width));
  const back = viewportFor([place(0)], next, size);
  expect(back?.x).toBe(24);
});

test('two distant nodes are zoomed out as long as they are readable', () => {
  const apart = [place(0), place(2)];
  const next = viewportFor(apart, start, size) ?? start;
  expect(next.zoom).toBeLessThan(1);
  expect(next.zoom).toBeGreaterThanOrEqual(0.75);
  expect(apart.map((at) => sees(next, at))).toEqual([true, true]);
});

test('only the node itself is shown if both would be too small', () => {
  const far = [place(0), place(9)];
  const next = viewportFor(far, start, size) ?? start;
  expect(next.zoom).toBe(1);
  expect(far.map((at) => sees(next, at))).toEqual([false, true]);
});

test('a small zoom chosen by the user stays', () => {
  const away: Viewport = { x: 0, y: 300, zoom: 0.2 };
  const next = viewportFor([place(10), place(14)], away, size) ?? away;
  expect(next.zoom).toBe(0.2);
  expect(sees(next, place(14))).toBe(true);
});

test('a workflow is shown as a whole, in the middle, as long as it is readable', () => {
  const row = (length: number) => Array.from({ length }, (_, column) => place(column));
  const least = leastZoom(1_440);
  const small = wholeViewport(row(2), size, least) ?? start;
  expect(small.zoom).toBe(1);
  expect(row(2).map((at) => sees(small, at))).toEqual([true, true]);
  expect(wholeViewport(row(3), size, least)).toBeUndefined();
});

test('the button that adds a node after the last one is shown, too', () => {
  const phone = { width: 390, height: 620 };
  for (const all of [[place(0)], [place(0), place(1)]]) {
    const { x, zoom } = wholeViewport(all, phone, 0.1) ?? start;
    const last = all.at(-1) ?? place(0);
    expect(x + (last.x + CARD.width + NEXT_BUTTON_ROOM) * zoom).toBeLessThanOrEqual(phone.width);
  }
});

test('a workflow that is too large begins with its trigger', () => {
  const first = startViewport(place(0, 2), size, leastZoom(1_440));
  expect(first.zoom).toBe(leastZoom(1_440));
  expect(sees(first, place(0, 2))).toBe(true);
});

test('on a phone names stay readable: the trigger and the next node are shown', () => {
  const phone = { width: 390, height: 620 };
  const least = leastZoom(phone.width);
  expect(least).toBeGreaterThanOrEqual(0.65);
  expect(wholeViewport([place(0), place(1), place(2)], phone, least)).toBeUndefined();
  const first = startViewport(place(0), phone, least);
  expect(first.zoom).toBe(least);
  expect(first.x).toBeGreaterThan(0);
  expect(first.x + (place(1).x + CARD.width + NEXT_BUTTON_ROOM) * least).toBeLessThanOrEqual(phone.width);
});

test('a temporary move is undone, unless the user has moved the viewport since', () => {
  const [to, further] = [
    { ...start, x: -300 },
    { ...start, x: -600 },
  ];
  const move = joinMoves(undefined, { from: start, to });
  expect(viewportBefore(move, to)).toEqual(start);
  expect(viewportBefore(move, { ...to, x: to.x + 40 })).toBeUndefined();
  expect(viewportBefore(move, { ...to, zoom: 0.9 })).toBeUndefined();
  expect(viewportBefore(joinMoves(move, { from: to, to: further }), further)).toEqual(start);
  const moved = { ...to, x: to.x - 100 };
  expect(viewportBefore(joinMoves(move, { from: moved, to: further }), further)).toEqual(moved);
});
