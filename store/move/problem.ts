/** Why a run store cannot be moved: what is wrong, then what to do. No defect, and without secrets. */
export class MoveProblem extends Error {
  override readonly name = 'MoveProblem';
}
