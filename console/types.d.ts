/** Types of imports that the bundler resolves. */
declare module '*.module.css' {
  const classes: Record<string, string>;
  export default classes;
}
declare module '*.css';
declare module 'windlass:templates' {
  export const templates: readonly import('./workflows/template.ts').Template[];
}
declare module 'windlass:schemas' {
  // Relative import declarations are ignored inside a module declaration, which would make the type `any`.
  export const schemas: import('./forms/schemas.ts').Schemas;
}
