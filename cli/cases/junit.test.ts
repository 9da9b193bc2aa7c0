import { expect, test } from 'vitest';
import { junitReport } from './junit.ts';

const passed = { file: 'a.test.yaml', workflow: 'orders', name: 'one', seconds: 0.25, failures: [] };

test('a report has a suite for each file, and escapes what XML reads as markup', () => {
  const failed = {
    ...passed,
    file: 'b.test.yaml',
    name: 'a<"b">',
    failures: ['expected cel: a && b, got \u0007'],
  };
  expect(junitReport([passed, failed])).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="2" failures="1" errors="0" time="0.500">
  <testsuite name="a.test.yaml" tests="1" failures="0" errors="0" time="0.250">
    <testcase classname="orders" name="one" time="0.250"/>
  </testsuite>
  <testsuite name="b.test.yaml" tests="1" failures="1" errors="0" time="0.250">
    <testcase classname="orders" name="a&lt;&quot;b&quot;&gt;" time="0.250"><failure message="expected cel: a &amp;&amp; b, got \uFFFD">expected cel: a &amp;&amp; b, got \uFFFD</failure></testcase>
  </testsuite>
</testsuites>
`);
});

test('a file whose cases were not executed is an error', () => {
  const unread = { ...passed, name: 'cases', error: 'a.test.yaml: two cases are named one' };
  expect(junitReport([unread])).toContain(
    '<error message="a.test.yaml: two cases are named one">a.test.yaml: two cases are named one</error>',
  );
  expect(junitReport([unread])).toContain('<testsuites tests="1" failures="0" errors="1"');
});
