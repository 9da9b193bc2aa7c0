/** A part of the JavaScript that code nodes of imported workflows need. */
export type ShimPart = {
  name: string;
  /** What in the code requires it. */
  needs: RegExp;
  source: string;
  /** The names of other parts that it uses. */
  uses?: readonly string[];
};
