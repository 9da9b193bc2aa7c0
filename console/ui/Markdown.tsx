/**
 * Markdown of a model as elements. Nothing is parsed as HTML, images are not loaded, and a link says where it
 * leads.
 */
import { Code, List, ScrollArea, Table, Text } from '@mantine/core';
import { Fragment, type ReactNode } from 'react';
import { parseMarkdown, type Block } from './markdownBlocks.ts';
import { visibleText } from './visibleText.ts';

export function Markdown({ text }: { text: string }) {
  return <Blocks blocks={parseMarkdown(visibleText(text))} />;
}

function Blocks({ blocks }: { blocks: Block[] }) {
  return blocks.map((block, index) => <BlockOf key={index} block={block} />);
}

const WRAPPED = { whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' } as const;
const QUOTED = { borderLeft: '3px solid var(--mantine-color-default-border)', paddingLeft: 10 };
const SIZES = ['lg', 'md'];

function BlockOf({ block }: { block: Block }) {
  switch (block.kind) {
    case 'heading':
      return (
        <Text fw={700} size={SIZES[block.level - 1] ?? 'sm'} mt={4} style={WRAPPED}>
          {inline(block.text)}
        </Text>
      );
    case 'code':
      return <Code block>{block.text}</Code>;
    case 'quote':
      return (
        <div style={QUOTED}>
          <Blocks blocks={block.blocks} />
        </div>
      );
    case 'rule':
      return <hr style={{ width: '100%' }} />;
    case 'list':
      return <ListOf list={block} />;
    case 'table':
      return (
        <ScrollArea type="auto">
          <Table withTableBorder withColumnBorders fz="sm">
            <Table.Thead>
              <Table.Tr>
                {block.head.map((cell, at) => (
                  <Table.Th key={at}>{inline(cell)}</Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {block.rows.map((row, line) => (
                <Table.Tr key={line}>
                  {row.map((cell, at) => (
                    <Table.Td key={at}>{inline(cell)}</Table.Td>
                  ))}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </ScrollArea>
      );
    case 'text':
      return (
        <Text size="sm" style={WRAPPED}>
          {inline(block.text)}
        </Text>
      );
  }
}

function ListOf({ list: { start, items } }: { list: Block & { kind: 'list' } }) {
  return (
    <List size="sm" type={start === undefined ? 'unordered' : 'ordered'} start={start} withPadding>
      {items.map((parts, index) => (
        <List.Item key={index} style={WRAPPED}>
          {parts.map((part, at) => (
            <Fragment key={at}>{typeof part === 'string' ? inline(part) : <ListOf list={part} />}</Fragment>
          ))}
        </List.Item>
      ))}
    </List>
  );
}

/** Bounded, so that a text with many open brackets takes no longer than its length. */
const INLINE =
  /(?<code>`[^`\n]{1,2000}`)|(?<strong>\*\*(?=\S)[^*]{1,2000}\*\*)|(?<em>\*(?=\S)[^*\n]{1,2000}\*)|!\[(?<image>[^\]\n]{0,500})\]\([^)\s]{0,2000}\)|\[(?<label>[^\]\n]{1,500})\]\((?<href>[^)\s]{1,2000})\)/gu;

function inline(text: string): ReactNode[] {
  const parts: ReactNode[] = [];
  let at = 0;
  for (const match of text.matchAll(INLINE)) {
    parts.push(text.slice(at, match.index), <Fragment key={match.index}>{inlineElement(match)}</Fragment>);
    at = match.index + match[0].length;
  }
  return [...parts, text.slice(at)];
}

/** Links are text with their address: a test of a workflow needs to see it, not to follow it. */
function inlineElement({ 0: whole, groups = {} }: RegExpMatchArray): ReactNode {
  const { code, strong, em, image, label, href } = groups;
  if (code !== undefined) return <Code>{code.slice(1, -1)}</Code>;
  if (strong !== undefined) return <strong>{inline(strong.slice(2, -2))}</strong>;
  if (em !== undefined) return <em>{inline(em.slice(1, -1))}</em>;
  if (image !== undefined) return image;
  return label === undefined ? whole : `${label} (${href ?? ''})`;
}
