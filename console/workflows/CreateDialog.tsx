/** The dialog for new workflows: by name and trigger, from a template, a description, YAML, or a file. */
import { Button, FileButton, Group, Modal, Skeleton, Stack, Tabs, Text } from '@mantine/core';
import { IconFileCode, IconFileImport, IconSchema, IconSparkles, IconTemplate } from '@tabler/icons-react';
import { lazy, Suspense, useState, type DragEvent } from 'react';
import { useQuery } from '@tanstack/react-query';
import type { TriggerKind } from '../../api/triggerKinds.ts';
import { useMay } from '../kube/access.ts';
import { DocLink } from '../docs/DocLink.tsx';
import { N8N_DOC } from '../docs/n8nDoc.ts';
import { DRAFTS, RUNS } from '../kube/resources.ts';
import { sessionQuery } from '../session/session.ts';
import { useIsNarrow } from '../ui/useIsNarrow.ts';
import { useReturnFocus } from '../ui/useReturnFocus.ts';
import { CreateByName } from './CreateByName.tsx';
import { CreateByYaml } from './CreateByYaml.tsx';
import type { Template } from './template.ts';
import { useKnownCredentials } from './useKnownCredentials.ts';
import classes from './CreateDialog.module.css';

const CreateByTemplate = lazy(async () => ({
  default: (await import('./CreateByTemplate.tsx')).CreateByTemplate,
}));

const CreateByDescription = lazy(async () => ({
  default: (await import('./CreateByDescription.tsx')).CreateByDescription,
}));

export type CreateTab = 'name' | 'template' | 'describe' | 'yaml' | 'file';

/** `short`: on a narrow screen. It is a part of the label, so that both are the same name. */
type TabChoice = { value: CreateTab; label: string; short?: string; icon: typeof IconSchema };

const TABS: readonly TabChoice[] = [
  { value: 'name', label: 'New', icon: IconSchema },
  { value: 'template', label: 'Template', icon: IconTemplate },
  { value: 'describe', label: 'Describe', icon: IconSparkles },
  { value: 'yaml', label: 'Paste YAML', short: 'YAML', icon: IconFileCode },
  { value: 'file', label: 'Import a file', short: 'File', icon: IconFileImport },
];

type Props = { project: string; taken: ReadonlySet<string>; tab: CreateTab; onClose: () => void };

export function CreateDialog({ project, taken, tab: firstTab, onClose }: Props) {
  useReturnFocus();
  const [tab, setTab] = useState<CreateTab>(firstTab);
  const [text, setText] = useState('');
  const [typedName, setTypedName] = useState('');
  const [trigger, setTrigger] = useState<TriggerKind>('webhook');
  const isNarrow = useIsNarrow();
  const { credentials, isPending } = useKnownCredentials(project);
  const [template, setTemplate] = useState<Template>();
  const shared = { project, taken, onCancel: onClose };
  const naming = { typedName, onTypedName: setTypedName };
  return (
    <Modal
      opened
      onClose={onClose}
      // A click beside it would lose what was typed.
      closeOnClickOutside={false}
      title={titleOf(tab, template)}
      size="xl"
      fullScreen={isNarrow}
      classNames={{ content: classes['content'] ?? '' }}
    >
      <Tabs value={tab} onChange={(value) => setTab(value as CreateTab)} keepMounted={false}>
        <TabChoices project={project} isNarrow={isNarrow} />
        <Tabs.Panel value="name">
          <CreateByName
            {...shared}
            {...naming}
            credentials={credentials}
            trigger={trigger}
            onTrigger={setTrigger}
          />
        </Tabs.Panel>
        <Tabs.Panel value="template">
          <Suspense fallback={<Skeleton h={320} />}>
            {isPending ? (
              <Skeleton h={320} />
            ) : (
              <CreateByTemplate
                {...shared}
                credentials={credentials}
                mayCreate
                chosen={template?.id}
                onChoose={setTemplate}
              />
            )}
          </Suspense>
        </Tabs.Panel>
        <Tabs.Panel value="describe">
          <Suspense fallback={<Skeleton h={320} />}>
            <CreateByDescription {...shared} {...naming} />
          </Suspense>
        </Tabs.Panel>
        <Tabs.Panel value="yaml">
          <CreateByYaml {...shared} text={text} onText={setText} />
        </Tabs.Panel>
        <Tabs.Panel value="file">
          <FilePick
            onText={(read) => {
              setText(read);
              setTab('yaml');
            }}
          />
          <Group justify="flex-end" mt="md">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
          </Group>
        </Tabs.Panel>
      </Tabs>
    </Modal>
  );
}

function TabChoices({ project, isNarrow }: { project: string; isNarrow: boolean }) {
  const mayDescribe = useMayDescribe(project);
  return (
    <Tabs.List mb="md">
      {TABS.filter(({ value }) => value !== 'describe' || mayDescribe).map(
        ({ value, label, short, icon: Icon }) => (
          // Without icons the tabs fit on one line of a narrow screen.
          <Tabs.Tab
            key={value}
            value={value}
            aria-label={label}
            {...(isNarrow ? { px: 'xs' } : { leftSection: <Icon size={16} /> })}
          >
            {isNarrow ? (short ?? label) : label}
          </Tabs.Tab>
        ),
      )}
    </Tabs.List>
  );
}

/** The name of the template is out of sight once the form is scrolled. */
function titleOf(tab: CreateTab, template: Template | undefined): string {
  if (tab !== 'template' || template === undefined) return 'New workflow';
  return `New workflow from "${template.spec.displayName}"`;
}

/** Whether a model may be asked for drafts of new workflows. */
function useMayDescribe(namespace: string): boolean {
  const { data: session } = useQuery(sessionQuery);
  const mayTest = useMay(
    { verb: 'create', resource: RUNS, namespace },
    { verb: 'test', resource: DRAFTS, namespace },
  );
  return session?.signedIn === true && session.helpMeBuild && mayTest;
}

/** The limit of the API server for objects, more than any workflow needs. */
const MAX_BYTES = 1_500_000;

/** Takes a file by selection or drop and returns its text. */
function FilePick({ onText }: { onText: (text: string) => void }) {
  const [problem, setProblem] = useState<string>();
  const [isOver, setOver] = useState(false);
  const take = async (file: File | null | undefined): Promise<void> => {
    if (!file) return;
    if (file.size > MAX_BYTES) return setProblem(`${file.name} is too large for a workflow.`);
    onText(await file.text());
  };
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    void take(event.dataTransfer.files[0]);
  };
  return (
    <div
      className={classes['drop'] ?? ''}
      {...(isOver && { 'data-over': true })}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <Stack align="center" gap="sm">
        <Text size="sm">A Windlass workflow, as a YAML or JSON file.</Text>
        <Text size="sm" c="dimmed" className={classes['dropHint'] ?? ''}>
          Drop it here, or choose it.
        </Text>
        <FileButton onChange={(file) => void take(file)} accept=".yaml,.yml,.json,application/json,text/yaml">
          {(props) => (
            <Button variant="default" {...props}>
              Choose a file
            </Button>
          )}
        </FileButton>
        {problem !== undefined && (
          <Text size="sm" c="var(--mantine-color-error)" role="alert">
            {problem}
          </Text>
        )}
        <Text size="xs" c="dimmed">
          <DocLink to={N8N_DOC}>How to import n8n workflows</DocLink>
        </Text>
      </Stack>
    </div>
  );
}
