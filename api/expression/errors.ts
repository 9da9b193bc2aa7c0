/**
 * The errors of expressions: whatever text or data comes in, parsing and evaluating throw these and nothing else.
 * Their messages name references, positions and sizes, never the data that a reference found.
 */

/** What went wrong with an expression. `code` is stable; `message` is for the person who wrote the workflow. */
export class ExpressionError extends Error {
  override readonly name: string = 'ExpressionError';
  readonly code: ExpressionErrorCode;
  /** The message without the place. */
  readonly detail: string;
  /** Where in the text, counted from 1. Absent when evaluation failed. */
  readonly position?: Position;
  /** Where the text stands in the value that was compiled: `body.items[0]`. */
  readonly path?: string;

  constructor(code: ExpressionErrorCode, detail: string, place: { position?: Position; path?: string } = {}) {
    const { position, path } = place;
    const spot = position ? `line ${position.line}, column ${position.column}` : undefined;
    super([path, spot, detail].filter(Boolean).join(': '));
    this.code = code;
    this.detail = detail;
    if (position) this.position = position;
    if (path) this.path = path;
  }
}

/**
 * - `Syntax`: the text is no expression; found when the workflow is checked.
 * - `Limit`: larger than a documented limit, either when it is checked or when it is evaluated.
 * - `MissingValue`: a reference names something that is not there.
 * - `Type`: a condition compares or computes with values of types that do not fit.
 */
export type ExpressionErrorCode = 'Syntax' | 'Limit' | 'MissingValue' | 'Type';

export type Position = { line: number; column: number };

/** A reference names what is not there. The message holds the reference and the deepest part of it that exists. */
export class MissingValueError extends ExpressionError {
  override readonly name = 'MissingValueError';
  /** The reference as it is written in a workflow. */
  readonly reference: string;

  constructor(reference: string, message: string) {
    super('MissingValue', message);
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
