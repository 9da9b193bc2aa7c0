/** Types of imports that the bundler resolves. */
declare module '*.module.css' {
  const classes: Record<string, string>;
  export default classes;
}
declare module '*.css';
declare module 'windlass:templates' {
  export const templates: readonly import('./workflows/template.ts').Template[];
}
declare module 'windlass:docs' {
  /** The version of Windlass that the pages describe. */
  export const version: string;
  export const docs: readonly import('./docs/doc.ts').LoadableDoc[];
}
declare module 'windlass:schemas' {
  // Relative import declarations are ignored inside a module declaration, which would make the type `any`.
  export const schemas: import('./forms/schemas.ts').Schemas;
}
