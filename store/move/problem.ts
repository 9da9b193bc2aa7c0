/** Why a run store cannot be moved: what is wrong, then what to do. Contains no secrets. */
export class MoveProblem extends Error {
  override readonly name = 'MoveProblem';
}
