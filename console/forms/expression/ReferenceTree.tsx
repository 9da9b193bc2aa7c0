/**
 * The outputs of earlier nodes as a tree. A click picks a reference, and each value can be dragged into an
 * input.
 */
import { ActionIcon, Badge, Group, Text, UnstyledButton } from '@mantine/core';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { useState } from 'react';
import { toText } from '../../../api/expression/evaluate.ts';
import { printReference } from '../../../api/expression/reference.ts';
import classes from './Expression.module.css';
import {
  childrenOf,
  isExecuted,
  memberHelp,
  REFERENCE_TYPE,
  typeLabel,
  type Source,
  type Sources,
} from '../source.ts';

type Picking = { onPick: (reference: string) => void };

export function ReferenceTree({ sources, onPick }: Picking & { sources: Sources }) {
  return (
    <ul className={classes['tree']}>
      {sources.element !== undefined && (
        <Branch
          name="$item"
          written="$item"
          value={sources.element.item}
          isReal={sources.element.isReal}
          onPick={onPick}
          isOpenFirst
        />
      )}
      {sources.element !== undefined && (
        <Branch
          name="$index"
          written="$index"
          value={sources.element.index}
          isReal={sources.element.isReal}
          onPick={onPick}
        />
      )}
      {sources.previous !== undefined && !sources.nodes.includes(sources.previous) && (
        <Branch
          name="$previous.data_content"
          written="$previous.data_content"
          value={sources.previous.output.data_content}
          isReal={sources.previous.isReal}
          onPick={onPick}
        />
      )}
      {sources.nodes
        .filter(isExecuted)
        .toReversed()
        .map((source) => (
          <li key={source.id}>
            <Group gap={6} mt={4} wrap="nowrap">
              <Text size="xs" fw={600} truncate>
                {source.label}
              </Text>
              {!source.isReal && (
                <Badge size="xs" variant="light" color="gray">
                  no output yet
                </Badge>
              )}
            </Group>
            <ul>
              {source.members.map((member) => (
                <Branch
                  key={member}
                  name={member}
                  written={writtenOf(source, member)}
                  value={source.output[member]}
                  isReal={source.isReal}
                  help={memberHelp(source, member)}
                  onPick={onPick}
                  isOpenFirst={member === 'data_content'}
                />
              ))}
            </ul>
          </li>
        ))}
    </ul>
  );
}

function writtenOf(source: Source, member: Source['members'][number]): string {
  return printReference({ source: 'node', node: source.id, member, path: [] });
}

type BranchProps = Picking & {
  name: string;
  written: string;
  value: unknown;
  isReal: boolean;
  /** What the value is, in a second line. */
  help?: string;
  isOpenFirst?: boolean;
};

function Branch({ name, written, value, isReal, help, onPick, isOpenFirst = false }: BranchProps) {
  const [isOpen, setOpen] = useState(isOpenFirst);
  const children = childrenOf(value);
  return (
    <li>
      <Group gap={0} wrap="nowrap">
        {children.length === 0 ? (
          <span style={{ width: 18, flex: 'none' }} />
        ) : (
          <ActionIcon
            size={18}
            variant="transparent"
            color="gray"
            aria-expanded={isOpen}
            aria-label={isOpen ? `Close ${name}` : `Open ${name}`}
            onClick={() => setOpen(!isOpen)}
          >
            {isOpen ? <IconChevronDown size={14} /> : <IconChevronRight size={14} />}
          </ActionIcon>
        )}
        <UnstyledButton
          className={classes['leaf'] ?? ''}
          draggable
          title={written}
          onClick={() => onPick(written)}
          onDragStart={(event) => {
            event.dataTransfer.setData(REFERENCE_TYPE, written);
            event.dataTransfer.setData('text/plain', `{{ ${written} }}`);
          }}
        >
          <code>{name}</code>
          <span className={classes['sample']}>
            {children.length > 0 || !isReal ? typeLabel(value) : sampleOf(value)}
          </span>
        </UnstyledButton>
      </Group>
      {help !== undefined && (
        <Text className={classes['help'] ?? ''} c="dimmed">
          {help}
        </Text>
      )}
      {isOpen && children.length > 0 && (
        <ul>
          {children.map((child) => (
            <Branch
              key={child.written}
              name={String(child.step)}
              written={`${written}${child.written}`}
              value={child.value}
              isReal={isReal}
              onPick={onPick}
            />
          ))}
        </ul>
      )}
    </li>
  );
}

const LONGEST = 80;

function sampleOf(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === '') return '""';
  return toText(value).slice(0, LONGEST);
}
