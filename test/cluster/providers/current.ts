/** Any cluster that the current kubeconfig context names. Nothing of it is made, and nothing removed. */
import { mkdtemp } from 'node:fs/promises';
export const currentProvider = undefined as never;
