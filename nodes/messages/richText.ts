/** Text with formats, independent of the messenger: plain text and the spans of its formats. Pure. */
import type { RichText, Room } from '../contract/messenger.ts';

/** A word or a line that is longer than this part of a message is cut. */
const LEAST_PART = 0.5;
/** Longer than any character that a reader sees as one. */
const LONGEST_CHARACTER = 64;

/**
 * The text in parts that each have room: cut between paragraphs, lines or words where there are such, and
 * never within what a reader sees as one character. The spans continue in the next part.
 */
export function* partsOf(rich: RichText, room: Room): Generator<RichText> {
  const { text } = rich;
  let start = 0;
  while (start < text.length) {
    const end = endOfPart(rich, start, room);
    const part = within(rich, start, start + text.slice(start, end).trimEnd().length);
    if (part.text !== '') yield part;
    // The break between two parts is shown by their being two. How the next line is indented stays.
    start = text[end] === ' ' ? end + 1 : end;
    while (text[start] === '\n') start += 1;
  }
}

/** The longest part for which there is room, by halving; then back to where it may be cut. */
function endOfPart(rich: RichText, start: number, { most, lengthOf }: Room): number {
  const { text } = rich;
  const fits = (end: number) => lengthOf(within(rich, start, end)) <= most;
  let end = Math.min(start + most, text.length);
  if (fits(end)) return end === text.length ? end : cutBefore(text, start, end);
  let fitting = start + 1;
  while (end - fitting > 1) {
    const middle = Math.floor((fitting + end) / 2);
    if (fits(middle)) fitting = middle;
    else end = middle;
  }
  return Math.max(cutBefore(text, start, fitting), start + 1);
}

function cutBefore(text: string, start: number, end: number): number {
  const first = start + Math.floor((end - start) * LEAST_PART);
  // What is cut away is not shown, so that it may lie just behind the part.
  const part = text.slice(first, end + 1);
  for (const separator of ['\n\n', '\n', ' ']) {
    const place = part.lastIndexOf(separator);
    if (place >= 0) return first + place;
  }
  // From the start of the part: of flags in a row nobody can tell from the midst of them which two letters
  // make one.
  const characters = new Intl.Segmenter().segment(text.slice(start, end + LONGEST_CHARACTER));
  const cut = characters.containing(end - start);
  return cut && cut.index > 0 ? start + cut.index : end;
}

/** A part of the text, with what of the spans lies in it. */
function within({ text, spans }: RichText, start: number, end: number): RichText {
  return {
    text: text.slice(start, end),
    spans: spans.flatMap((span) => {
      const own = { start: Math.max(span.start, start) - start, end: Math.min(span.end, end) - start };
      return own.start < own.end ? [{ ...span, ...own }] : [];
    }),
  };
}
