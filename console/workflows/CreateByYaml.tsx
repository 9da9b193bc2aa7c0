/** Creates a workflow from YAML or JSON. Problems of the parser and of the API server show their line. */
import { Alert, Anchor, Checkbox, List, Select, Stack, Text, Textarea } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { failureFrom } from '../http/failure.ts';
import { TextLink } from '../ui/links.tsx';
import type { Reading, ReadWorkflow } from './documents.ts';
import { CreateButtons, type Cancelling } from './CreateButtons.tsx';
import classes from './CreateDialog.module.css';
import { N8nSteps } from './N8nSteps.tsx';
import { NameFields, useCreate, useNames } from './NameFields.tsx';
import { problemsOf, type TextProblem } from './problems.ts';

type Props = Cancelling & {
  project: string;
  taken: ReadonlySet<string>;
  text: string;
  onText: (text: string) => void;
};

const PAUSE_MS = 200;

export function CreateByYaml({ project, taken, text, onText, onCancel }: Props) {
  const area = useRef<HTMLTextAreaElement>(null);
  const [settled] = useDebouncedValue(text, PAUSE_MS);
  const { data: reading } = useQuery({
    queryKey: ['documents', settled],
    queryFn: async () => (await import('./documents.ts')).readDocuments(settled),
    enabled: settled.trim() !== '',
    gcTime: 0,
    staleTime: Infinity,
  });
  const showLine = (line: number) => {
    if (area.current !== null) selectLine(area.current, line);
  };
  return (
    <Stack>
      <Textarea
        ref={area}
        label="YAML or JSON"
        description="A Windlass workflow, such as an export. For an n8n workflow, this dialog shows how to convert it."
        placeholder={
          'kind: Workflow\nmetadata:\n  name: orders\nspec:\n  nodes:\n    - id: trigger\n      webhook: { path: orders }'
        }
        autosize
        minRows={10}
        maxRows={14}
        spellCheck={false}
        className={classes['text'] ?? ''}
        value={text}
        onChange={(event) => onText(event.currentTarget.value)}
        data-autofocus
      />
      {settled.trim() !== '' && reading ? (
        <Read key={keyOf(reading)} {...{ reading, project, taken, onCancel }} onLine={showLine} />
      ) : (
        <CreateButtons onCancel={onCancel} isDisabled />
      )}
    </Stack>
  );
}

/** The entered name is kept while the text is edited, as long as it is the same workflow. */
function keyOf(reading: Reading): string {
  return reading.ok
    ? reading.workflows.map(({ name, spec }) => `${name} ${spec.displayName}`).join()
    : 'wrong';
}

type ReadProps = Pick<Props, 'project' | 'taken' | 'onCancel'> & {
  reading: Reading;
  onLine: (line: number) => void;
};

function Read({ reading, project, taken, onLine, onCancel }: ReadProps) {
  const [chosen, setChosen] = useState(0);
  if (!reading.ok)
    return (
      <Stack>
        {'isN8n' in reading ? <OfN8n /> : <Problems problems={[reading]} onLine={onLine} />}
        <CreateButtons onCancel={onCancel} isDisabled />
      </Stack>
    );
  const { workflows, others } = reading;
  const workflow = workflows[chosen] ?? workflows[0];
  return (
    <Stack>
      {others.length > 0 && <Others others={others} project={project} />}
      {workflows.length > 1 && (
        <Select
          label={`Choose one of ${workflows.length} workflows`}
          data={workflows.map(({ name }, at) => ({ value: String(at), label: name || `Workflow ${at + 1}` }))}
          value={String(chosen)}
          allowDeselect={false}
          onChange={(at) => setChosen(Number(at))}
        />
      )}
      {workflow && <YamlForm key={chosen} workflow={workflow} {...{ project, taken, onLine, onCancel }} />}
    </Stack>
  );
}

function OfN8n() {
  return (
    <Alert color="yellow" variant="light" title="This is an n8n workflow" role="alert">
      <N8nSteps />
    </Alert>
  );
}

function Others({ others, project }: { others: string[]; project: string }) {
  return (
    <Alert
      color="yellow"
      variant="light"
      title="Only the workflow will be created"
      styles={{ title: { color: 'var(--mantine-color-text)' } }}
    >
      The YAML also contains {others.join(', ')}. Create credentials on the page{' '}
      <TextLink to="/p/$project/credentials" params={{ project }} size="sm">
        Credentials
      </TextLink>
      , or apply the YAML with kubectl.
    </Alert>
  );
}

type FormProps = Omit<ReadProps, 'reading'> & { workflow: ReadWorkflow };

function YamlForm({ workflow, project, taken, onLine, onCancel }: FormProps) {
  const { name, spec, marks, lineOf } = workflow;
  const displayName = typeof spec.displayName === 'string' ? spec.displayName : '';
  const create = useCreate(project);
  const { created } = create;
  const names = useNames(taken, { displayName, created, ...(name !== '' && { name }) });
  const [isTried, setTried] = useState(false);
  const [staysOff, setStaysOff] = useState(true);
  const submit = (): void => {
    setTried(true);
    if (names.problem !== undefined) return;
    const title = names.displayName.trim();
    const switchedOff = spec.active && staysOff ? { active: false } : {};
    create.mutate({
      name: names.name,
      marks,
      spec: { ...spec, ...(title !== '' && { displayName: title }), ...switchedOff },
    });
  };
  const problems = create.error === null ? [] : problemsOf(failureFrom(create.error), lineOf);
  return (
    <Stack>
      {problems.length > 0 && <Problems problems={problems} onLine={onLine} />}
      <NameFields names={names} showsProblem={isTried} />
      {spec.active && (
        <Checkbox
          size="xs"
          label="Create as inactive"
          description="The YAML sets active: true. Without this option the trigger starts runs immediately."
          checked={staysOff}
          onChange={(event) => setStaysOff(event.currentTarget.checked)}
        />
      )}
      <CreateButtons onCancel={onCancel} onCreate={submit} isPending={create.isPending} />
    </Stack>
  );
}

type ProblemsProps = { problems: TextProblem[]; onLine: (line: number) => void };

function Problems({ problems, onLine }: ProblemsProps) {
  return (
    <Alert color="red" variant="light" title="Cannot create the workflow yet" role="alert">
      <List size="sm">
        {problems.map(({ line, field, message }) => (
          <List.Item key={`${line} ${field} ${message}`} style={{ overflowWrap: 'anywhere' }}>
            {line !== undefined && (
              <Anchor component="button" type="button" size="sm" onClick={() => onLine(line)}>
                Line {line}
              </Anchor>
            )}
            {line !== undefined && ': '}
            {message}
            {field !== undefined && (
              <Text span size="xs" c="dimmed" ff="monospace">
                {` ${field}`}
              </Text>
            )}
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}

function selectLine(area: HTMLTextAreaElement, line: number): void {
  const lines = area.value.split('\n');
  const start = lines.slice(0, line - 1).reduce((length, text) => length + text.length + 1, 0);
  area.focus();
  area.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
  area.scrollTop = (area.scrollHeight / lines.length) * Math.max(0, line - 4);
}
