import type { ProjectUid } from './types.ts';

export type Beats = {
  /** Stops beating and removes the beat; hand back all claims before. */
  stop(): Promise<void>;
};

/** Beats every 2 s for all claims of this process, from a worker thread. */
export declare function startBeats(options: {
  url: string;
  username?: string;
  password?: string;
  project: ProjectUid;
  runner: string;
  /** The program's second entry, `runs/beatWorker.ts` bundled; default: that file beside this one. */
  worker?: URL;
}): Beats;
