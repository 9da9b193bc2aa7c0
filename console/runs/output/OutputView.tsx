/**
 * The output of a node as tree, table, text or JSON, whichever fit. Content is always shown as plain text.
 */
import {
  Alert,
  Badge,
  Button,
  Code,
  Group,
  SegmentedControl,
  Skeleton,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { IconCopy, IconScissors, IconSearch } from '@tabler/icons-react';
import { lazy, Suspense, useState } from 'react';
import { copyText } from '../../ui/copy.tsx';
import { OutputTable } from './OutputTable.tsx';
import { OutputTree } from './OutputTree.tsx';
import { tablesOf, toolCallsOf, wholeText, type Output, type ToolCall } from './outputTree.ts';
import classes from './Output.module.css';

const JsonCode = lazy(async () => ({ default: (await import('./JsonCode.tsx')).JsonCode }));

type Props = {
  output: Output | undefined;
  nodeId: string;
  /** The output is this item of a loop. */
  item?: number | undefined;
  /** Called with the reference of a picked value, such as `$('mail').data_content.subject`. */
  onPick?: (reference: string) => void;
  /** The output is incomplete. */
  isTruncated?: boolean;
  /** The output was not recorded because of settings. */
  isRedacted?: boolean;
  /** The tool calls are shown elsewhere. */
  hidesCalls?: boolean;
  /** The agent has no tools: each call was refused. */
  refusesCalls?: boolean;
};

type Shape = 'tree' | 'table' | 'text' | 'json';

export function OutputView(props: Props) {
  const { output, nodeId, item, onPick, isTruncated = false, isRedacted = false } = props;
  const [asked, setShape] = useState<Shape>();
  const [search, setSearch] = useState('');
  if (output === undefined) return <NoOutput isRedacted={isRedacted} />;
  const tables = tablesOf(output);
  const text = output.text_content ?? '';
  const shapes = shapesOf(text, tables.length > 0);
  const shape = asked !== undefined && shapes.includes(asked) ? asked : firstShape(output);
  const calls = shownCalls(output, props);
  return (
    <Stack gap={8}>
      {isTruncated && (
        <Alert color="yellow" variant="light" p="xs" icon={<IconScissors />}>
          The recorded output is truncated. Later nodes received the full output.
        </Alert>
      )}
      <Group justify="space-between" gap="xs" wrap="wrap">
        <SegmentedControl
          size="xs"
          aria-label="Output format"
          data={shapes.map((one) => ({ value: one, label: LABELS[one] }))}
          value={shape}
          onChange={setShape}
        />
        <Group gap={6} wrap="nowrap">
          {shape === 'tree' && (
            <TextInput
              aria-label="Search the output"
              placeholder="Search"
              leftSection={<IconSearch size={13} />}
              value={search}
              onChange={(event) => setSearch(event.currentTarget.value)}
              w={130}
            />
          )}
          <Button
            variant="default"
            leftSection={<IconCopy size={13} />}
            onClick={() => void copyText(shape === 'text' ? text : wholeText(output), 'output')}
          >
            Copy
          </Button>
        </Group>
      </Group>
      {shape === 'tree' && (
        <OutputTree output={output} nodeId={nodeId} item={item} search={search.trim()} onPick={onPick} />
      )}
      {shape === 'table' && <OutputTable tables={tables} nodeId={nodeId} item={item} />}
      {shape === 'text' && (
        <div className={classes['text'] ?? ''} tabIndex={0} role="region" aria-label={`Text of ${nodeId}`}>
          {text}
        </div>
      )}
      {shape === 'json' && (
        <Suspense fallback={<Skeleton h={200} />}>
          <JsonCode value={wholeText(output)} label={`Output of ${nodeId} as JSON`} />
        </Suspense>
      )}
      {calls.length > 0 && <ToolCalls calls={calls} refusal={refusalText(props)} />}
    </Stack>
  );
}

function shownCalls(output: Output, { hidesCalls = false }: Props): ToolCall[] {
  return hidesCalls ? [] : toolCallsOf(output);
}

function NoOutput({ isRedacted }: { isRedacted: boolean }) {
  return (
    <Text size="sm" c="dimmed">
      {isRedacted ? REDACTED : 'No output.'}
    </Text>
  );
}

const LABELS: Record<Shape, string> = { tree: 'Tree', table: 'Table', text: 'Text', json: 'JSON' };

function shapesOf(text: string, hasTable: boolean): Shape[] {
  return [...(text === '' ? [] : ['text' as const]), 'tree', ...(hasTable ? ['table' as const] : []), 'json'];
}

/** Text comes first if it is the output; beside data it usually only describes the data. */
function firstShape({ text_content = '', data_content }: Output): Shape {
  const isAgent =
    typeof data_content === 'object' && data_content !== null && 'finish_reason' in data_content;
  const isText = data_content === null || data_content === undefined || isAgent;
  return text_content !== '' && isText ? 'text' : 'tree';
}

function refusalText({ refusesCalls = false }: Props): string {
  return refusesCalls ? 'refused: the agent has no tools' : 'refused or failed';
}

function ToolCalls({ calls, refusal }: { calls: ToolCall[]; refusal: string }) {
  return (
    <Stack gap={6} role="list" aria-label="Tool calls">
      {calls.map(({ name, input, result, isFailed }, index) => (
        <div role="listitem" key={index} className={classes['call'] ?? ''}>
          <Text size="sm" fw={600} component="div">
            {index + 1}. {name}
            {isFailed && (
              <Badge ml={8} size="sm" color="red" variant="light" tt="none">
                {refusal}
              </Badge>
            )}
          </Text>
          <Text size="xs" c="dimmed">
            Arguments
          </Text>
          <Code block>{input}</Code>
          {result !== undefined && (
            <>
              <Text size="xs" c="dimmed" mt={4}>
                Result
              </Text>
              <Code block>{result}</Code>
            </>
          )}
        </div>
      ))}
    </Stack>
  );
}

export const REDACTED =
  'Not recorded, or no longer: see "Save inputs and outputs" and "Keep inputs and outputs for" in the settings of the workflow, and "Sensitive" in those of the node.';
