/** What the bundler makes of imports that are no TypeScript. */
declare module '*.module.css' {
  const classes: Record<string, string>;
  export default classes;
}
declare module '*.css';
declare module 'windlass:schemas' {
  // A relative import declaration is ignored in here, and everything would be any.
  export const schemas: import('./forms/schemas.ts').Schemas;
}
