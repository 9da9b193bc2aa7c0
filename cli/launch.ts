#!/usr/bin/env node
/** Starts the program `windlass`, unless this Node.js is too old to load it. */
import { hasUsableNode } from './nodeVersion.ts';

if (hasUsableNode()) {
  // Half of the time of a command is that of compiling what it imports. An old Node.js lacks the function.
  const { enableCompileCache } = await import('node:module');
  enableCompileCache();
  await import('./main.ts');
}
