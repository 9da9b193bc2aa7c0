/**
 * The errors of expressions: parsing and evaluating throw no other errors, whatever the text and the data
 * are. Their messages name references, positions and sizes, never the data that a reference yields.
 */
import type { FoundBy } from './found.ts';

/** The error of an expression. `code` is stable; `message` is for the author of the workflow. */
export class ExpressionError extends Error {
  override readonly name: string = 'ExpressionError';
  readonly code: ExpressionErrorCode;
  /** The message without path and position. */
  readonly detail: string;
  /** The position in the text. Undefined if evaluation failed. */
  readonly position?: Position;
  /** The path of the text in the compiled value: `body.items[0]`. */
  readonly path?: string;
  /** Of a reference without a value. */
  readonly missing?: FoundBy;

  constructor(code: ExpressionErrorCode, detail: string, place: ErrorPlace = {}) {
    const { position, path, missing } = place;
    const spot = position ? `line ${position.line}, column ${position.column}` : undefined;
    super([path, spot, detail].filter(Boolean).join(': '));
    this.code = code;
    this.detail = detail;
    if (position) this.position = position;
    if (path) this.path = path;
    if (missing) this.missing = missing;
  }
}

/**
 * - `Syntax`: the text is not an expression; found when the workflow is checked.
 * - `Limit`: larger than a documented limit; found when it is checked or evaluated.
 * - `MissingValue`: a reference names a value that does not exist.
 * - `Type`: an operator or a function got a value of the wrong type.
 */
export type ExpressionErrorCode = 'Syntax' | 'Limit' | 'MissingValue' | 'Type';

type ErrorPlace = {
  position?: Position | undefined;
  path?: string | undefined;
  missing?: FoundBy | undefined;
};

/** Counted from 1. */
export type Position = { line: number; column: number };

/**
 * A reference names a value that does not exist. The message has the reference and its deepest part that
 * exists.
 */
export class MissingValueError extends ExpressionError {
  override readonly name = 'MissingValueError';
  /** The reference in the syntax of workflows. */
  readonly reference: string;

  constructor(reference: string, message: string, missing?: FoundBy) {
    super('MissingValue', message, { missing });
    this.reference = reference;
  }
}

/** The line and column (both from 1) of an offset in a text. */
export function positionAt(text: string, offset: number): Position {
  let line = 1;
  let lineStart = 0;
  for (let end = text.indexOf('\n'); end !== -1 && end < offset; end = text.indexOf('\n', lineStart)) {
    line += 1;
    lineStart = end + 1;
  }
  return { line, column: offset - lineStart + 1 };
}
