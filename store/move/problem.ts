/** Why a run store cannot be moved: what is wrong, then what to do. Contains no secrets. */
export class MoveProblem extends Error {
  override readonly name = 'MoveProblem';
}

/** Another call works on the move, or has cancelled it: what this call knew of the projects may be untrue. */
export class MoveSuperseded extends MoveProblem {}
