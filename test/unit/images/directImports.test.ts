import { expect, test } from 'vitest';
import { exportsOf, withDirectImports } from '../../../images/directImports.ts';

const INDEX = `import { Button } from "./Button/Button.mjs";
import { a as b } from './ab.mjs';
import { Scroll } from "other";
export { default as IconX, default as IconCross } from './icons/X.mjs';
export { Button, b as c, Scroll };`;

test.each([
  ['a name', 'Button', '/pkg/Button/Button.mjs', 'Button'],
  ['a name that was renamed twice', 'c', '/pkg/ab.mjs', 'a'],
  ['what comes from another package', 'Scroll', 'other', 'Scroll'],
  ['a default', 'IconX', '/pkg/icons/X.mjs', 'default'],
  ['its other name', 'IconCross', '/pkg/icons/X.mjs', 'default'],
])('an index says where %s is', (_, exported, path, name) => {
  expect(exportsOf(INDEX, '/pkg').get(exported)).toEqual({ path, name });
});

const KNOWN = new Map([['pkg', exportsOf(INDEX, '/pkg')]]);

test.each([
  [
    "import { Button as B, IconX } from 'pkg';",
    'import { Button as B } from "/pkg/Button/Button.mjs"; import { default as IconX } from "/pkg/icons/X.mjs";',
  ],
  [
    "import {\n  type Props,\n  Button,\n} from 'pkg';",
    'import { Button as Button } from "/pkg/Button/Button.mjs";',
  ],
  ["import { Unknown } from 'pkg';", 'import { Unknown as Unknown } from "pkg";'],
  ["import type { Props } from 'pkg';", "import type { Props } from 'pkg';"],
  ["import { x } from 'elsewhere';", "import { x } from 'elsewhere';"],
  ["import def, { x } from 'pkg';", "import def, { x } from 'pkg';"],
])('%j is taken from where it is', (source, direct) => {
  expect(withDirectImports(source, KNOWN)).toBe(direct);
});
