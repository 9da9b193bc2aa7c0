/**
 * Points on the wire at which a scene holds what comes by, so that a fault happens exactly there. What nobody
 * holds passes at once.
 */

/**
 * A gate. `reached` resolves when something has come to it; until `release` that stays there. `isLate`:
 * a command that was paused before it arrived arrives now, although its client has given up.
 */
export type Gate = { reached: Promise<void>; release: (isLate?: boolean) => void };

export type Gates = {
  /** Holds the next thing that comes to the point of the scene; later ones pass. */
  hold(scene: string, point: string): Gate;
  /** For fakes: resolves when the scene lets it pass. */
  pass(scene: string, point: string): Promise<void>;
};

/** A gate that is not reached yet, and what reaches it. */
export function createGate(): Gate & { reach(): void; released: Promise<boolean> } {
  const reached = Promise.withResolvers<void>();
  const released = Promise.withResolvers<boolean>();
  return {
    reached: reached.promise,
    released: released.promise,
    reach: reached.resolve,
    release: (isLate = false) => released.resolve(isLate),
  };
}

export function createGates(): Gates {
  const paused = new Map<string, ReturnType<typeof createGate>>();
  return {
    hold: (scene, point) => {
      const gate = createGate();
      paused.set(`${scene} ${point}`, gate);
      return gate;
    },
    pass: async (scene, point) => {
      const gate = paused.get(`${scene} ${point}`);
      if (!gate) return;
      paused.delete(`${scene} ${point}`);
      gate.reach();
      await gate.released;
    },
  };
}
