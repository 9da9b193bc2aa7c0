/** How the text of a code node is read without executing it. */
import { expect, test } from 'vitest';
import { positionIn, referencedNodes, requiredVariables } from './source.ts';

const idsIn = (source: string): string[] => [...referencedNodes(source).keys()];

test.each([
  ['a member', 'return nodes.a.data_content;', ['a']],
  ['a key', `return [nodes['a'], nodes["b"], nodes?.['c'], nodes?.d];`, ['a', 'b', 'c', 'd']],
  ['a spread', 'return [...nodes.a.data_content];', ['a']],
  ['a member of another value', 'return other.nodes.a + my_nodes.b;', []],
  ['a comment', '// it nodes.a\n/* nodes.b */ return 1;', []],
  ['a text', `return 'nodes.a' + "it's nodes.b";`, []],
  ['a template', 'return `nodes.a ${nodes.b.text_content} nodes.c`;', ['b']],
  ['an odd quote in a template', "return `it's ${nodes.a.text_content}, isn't it`;", ['a']],
  ['an odd quote in a template of two lines', 'return `5" and\n${nodes.a.text_content}`;', ['a']],
  [
    'a template in a template',
    "return `it's ${nodes.a.x ? `o'clock ${nodes.b.x}` : {}} ${nodes.c}`;",
    ['a', 'b', 'c'],
  ],
  ['an object in a template', "return `'${[{ a: nodes.a }].length}' ${nodes.b}`;", ['a', 'b']],
  ['an odd quote in a comment', "return 1; // it's\nreturn nodes.a;", ['a']],
  ['an odd quote in a regular expression', `return /['"]/.test(nodes.a.text_content) || "'";`, ['a']],
  ['a division', `return nodes.a.x / 2 + '/' + nodes.b.x;`, ['a', 'b']],
  ['a text that is not closed', `return 'it;\nreturn nodes.a;`, ['a']],
  ['a comment that ends at U+2028', '// it\u2028return nodes.a;', ['a']],
])('the nodes that %s names are known', (_what, source, ids) => {
  expect(idsIn(source)).toEqual(ids);
});

test.each([
  ['a member', 'return vars.url;', ['url']],
  ['keys', `return vars['limits.json'].max + vars["a-b"];`, ['limits.json', 'a-b']],
  ['a member in a template', "return `it's ${vars.url}`;", ['url']],
  ['a name in a text and a comment', "return 'vars.a'; // vars.b", []],
  ['a default', "return vars.a ?? 'none' + (vars.b || 'none');", []],
  ['a comparison', 'return vars.a === undefined || vars.b != null;', []],
  ['optional access', 'return vars?.a + vars.b?.c;', []],
  ['typeof', "return typeof vars.a === 'string' ? vars.a : '';", []],
  ['a test by name', "return 'a' in vars ? vars.a : vars.b;", ['b']],
  ['a test before a use', "if (vars.a !== undefined) return vars.a; return vars.b == 'x';", ['b']],
  ['an assignment', 'vars.a = 1; return vars.a;', []],
  ['a variable of its own', 'const vars = { a: 1 }; return vars.a;', []],
  ['a parameter of its own', 'return [{ a: 1 }].map((vars) => vars.a);', []],
  ['a member of another value', 'return other.vars.a + myvars.b;', []],
])('the variables that %s requires are known', (_what, source, names) => {
  expect([...requiredVariables(source).keys()]).toEqual(names);
});

test('positions count line breaks as editors do', () => {
  expect(referencedNodes('1;\r\n2;\rnodes.a')).toEqual(new Map([['a', { line: 3, column: 1 }]]));
  expect(referencedNodes('1;\u2028nodes.a')).toEqual(new Map([['a', { line: 1, column: 4 }]]));
});

test.each([
  ['a line of the source', 'a\nb', 'at f (source:3:1)', { line: 2, column: 1 }],
  ['the wrapper after the source', 'a\nb', 'at f (source:4:1)', undefined],
  ['a line after U+2028', 'a;\u2028b c', 'at f (source:3:3)', { line: 1, column: 6 }],
  ['a line after U+2028 in a text', '"\u2028"; \nb', 'at f (source:3:1)', { line: 2, column: 1 }],
])('a stack trace leads to %s', (_what, source, stack, position) => {
  expect(positionIn(stack, source)).toEqual(position);
});

test.each([
  ['slashes', '=/['],
  ['quotes', `'"`],
  ['templates', '`${'],
  ['open comments', '/*'],
  ['escapes', '"\\'],
])('a long source of %s is read in linear time', (_what, piece) => {
  const started = performance.now();
  idsIn(piece.repeat(20_000));
  expect(performance.now() - started).toBeLessThan(1_000);
});
