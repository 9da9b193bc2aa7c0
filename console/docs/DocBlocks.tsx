/** The content of a page of the documentation. Elements are created from data: nothing is parsed as HTML. */
import {
  Anchor,
  Blockquote,
  Code,
  Divider,
  List,
  ScrollArea,
  Table,
  Text,
  Title,
  type TitleOrder,
} from '@mantine/core';
import { Fragment, type ReactNode } from 'react';
import { docs } from 'windlass:docs';
import { TextLink } from '../ui/links.tsx';
import type { Block, Inline } from './doc.ts';
import { linkText } from './linkText.ts';
import classes from './docs.module.css';

const WRAPPED = { overflowWrap: 'anywhere' } as const;

/** The ID of the element of a heading, apart from those of the frame. */
export function elementId(heading: string): string {
  return `doc-${heading}`;
}

export function DocBlocks({ blocks }: { blocks: readonly Block[] }) {
  return blocks.map((block, index) => <OneBlock key={index} block={block} />);
}

function OneBlock({ block }: { block: Block }): ReactNode {
  switch (block.kind) {
    case 'heading':
      return (
        <Title
          order={orderOf(block.level)}
          id={elementId(block.id)}
          size={`h${orderOf(block.level + 1)}`}
          mt="lg"
          mb="xs"
          tabIndex={-1}
        >
          <Parts parts={block.parts} />
        </Title>
      );
    case 'code':
      return (
        <ScrollArea.Autosize
          mb="sm"
          type="auto"
          viewportProps={{ tabIndex: 0, role: 'group', 'aria-label': 'Code' }}
        >
          <Code block>{block.text}</Code>
        </ScrollArea.Autosize>
      );
    case 'list':
      return <ListOf list={block} />;
    case 'quote':
      return (
        <Blockquote mb="sm" p="sm">
          <DocBlocks blocks={block.blocks} />
        </Blockquote>
      );
    case 'table':
      return <TableOf table={block} />;
    case 'rule':
      return <Divider my="sm" />;
    case 'text':
      return (
        <Text size="sm" mb="sm" style={WRAPPED} component="p">
          <Parts parts={block.parts} />
        </Text>
      );
  }
}

function orderOf(level: number): TitleOrder {
  return Math.min(Math.max(level, 1), 6) as TitleOrder;
}

function ListOf({ list: { start, items } }: { list: Block & { kind: 'list' } }) {
  return (
    <List size="sm" mb="sm" type={start === undefined ? 'unordered' : 'ordered'} start={start} withPadding>
      {items.map((blocks, index) => (
        <List.Item key={index} style={WRAPPED}>
          {blocks.map((block, at) => (
            <Fragment key={at}>
              {block.kind === 'text' ? <Parts parts={block.parts} /> : <OneBlock block={block} />}
            </Fragment>
          ))}
        </List.Item>
      ))}
    </List>
  );
}

function TableOf({ table: { head, rows } }: { table: Block & { kind: 'table' } }) {
  return (
    <ScrollArea.Autosize
      mb="sm"
      type="auto"
      viewportProps={{ tabIndex: 0, role: 'group', 'aria-label': 'Table' }}
    >
      <Table
        withTableBorder
        verticalSpacing={6}
        fz="sm"
        miw={{ base: 100 * head.length, xs: 140 * head.length }}
      >
        <Table.Thead>
          <Table.Tr>
            {head.map((parts, at) =>
              // Above a column without a name is no header.
              parts.length === 0 ? (
                <Table.Td key={at} />
              ) : (
                <Table.Th key={at}>
                  <Parts parts={parts} />
                </Table.Th>
              ),
            )}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((cells, index) => (
            <Table.Tr key={index}>
              {cells.map((parts, at) => (
                <Table.Td key={at} style={{ verticalAlign: 'top' }}>
                  <Parts parts={parts} />
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollArea.Autosize>
  );
}

function Parts({ parts }: { parts: readonly Inline[] }) {
  return parts.map((part, index) => <Fragment key={index}>{inline(part)}</Fragment>);
}

/** The most characters of code that stay in one line, also on a narrow screen. */
const ONE_LINE = 36;

function codeClass(text: string): string {
  return `${classes['code'] ?? ''} ${text.length <= ONE_LINE ? (classes['whole'] ?? '') : ''}`;
}

/** A name that fits no column of a narrow screen continues after a dot of it. */
function breakable(text: string): ReactNode {
  return text.split(/(?<=\.)(?=\w)/).map((part, index) => (
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}

function inline(part: Inline): ReactNode {
  if (typeof part === 'string') return part;
  switch (part.kind) {
    case 'code':
      return <Code className={codeClass(part.text)}>{breakable(part.text)}</Code>;
    case 'strong':
      return (
        <strong>
          <Parts parts={part.parts} />
        </strong>
      );
    case 'em':
      return (
        <em>
          <Parts parts={part.parts} />
        </em>
      );
    case 'del':
      return (
        <del>
          <Parts parts={part.parts} />
        </del>
      );
    case 'break':
      return <br />;
    case 'doc':
      return (
        <TextLink
          inherit
          underline="always"
          to="/docs/$"
          params={{ _splat: part.to.page }}
          {...(part.to.hash !== undefined && { hash: part.to.hash })}
        >
          <Parts parts={linkText(docs, part)} />
        </TextLink>
      );
    case 'link':
      return (
        <Anchor inherit underline="always" href={part.href} target="_blank" rel="noopener noreferrer">
          <Parts parts={part.parts} />
        </Anchor>
      );
  }
}
