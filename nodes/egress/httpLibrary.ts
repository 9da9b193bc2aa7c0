/**
 * What is used of undici, in a module of its own that is loaded with the first connection: a bundle knows the
 * names that a CommonJS package exports only where they are imported statically.
 */
export { Agent, buildConnector, fetch } from 'undici';
