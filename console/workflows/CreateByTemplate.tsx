/** Creates a workflow from a template, with credentials of the project, and opens it as a draft. */
import { Button, Stack, Text, Title } from '@mantine/core';
import { IconArrowLeft } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useLayoutEffect, useMemo, useRef, useState, type RefObject, type SyntheticEvent } from 'react';
import { templates } from 'windlass:templates';
import { rightQuery } from '../kube/access.ts';
import { DRAFTS } from '../kube/resources.ts';
import { FailureNote } from '../ui/FailureNote.tsx';
import { CompletionFields } from './CompletionFields.tsx';
import { completed, completionsOf } from './completions.ts';
import {
  createWithDraft,
  createWorkflow,
  foundCredentials,
  withCredentials,
  type KnownCredential,
} from './create.ts';
import { CreateButtons, type Cancelling } from './CreateButtons.tsx';
import { NameFields, useCreate, useNames } from './NameFields.tsx';
import { NeedSelect } from './NeedSelect.tsx';
import { needLabels, type Template } from './template.ts';
import { TemplateDrawing } from './TemplateDrawing.tsx';
import { TemplateGallery } from './TemplateGallery.tsx';
import classes from './templates.module.css';
import tall from '../ui/tallDialog.module.css';

type FormProps = Cancelling & {
  project: string;
  taken: ReadonlySet<string>;
  credentials: KnownCredential[];
  /** Without the right to create workflows there is no button for it. */
  mayCreate: boolean;
};
/** `chosen`: the ID of a template; undefined: the gallery is shown. */
type Props = FormProps & {
  chosen: string | undefined;
  onChoose: (template: Template | undefined) => void;
};

export function CreateByTemplate({ chosen, onChoose, ...props }: Props) {
  const template = templates.find(({ id }) => id === chosen);
  return (
    <div ref={useBeginning(chosen)} className={classes['beginning'] ?? ''}>
      {template === undefined ? (
        <TemplateGallery credentials={props.credentials} onChoose={onChoose} />
      ) : (
        <TemplateForm key={template.id} template={template} onBack={() => onChoose(undefined)} {...props} />
      )}
    </div>
  );
}

/**
 * The box whose content begins at the top, and with the focus, when a template was chosen or left: otherwise
 * it would keep the place of what was there before.
 */
function useBeginning(chosen: string | undefined): RefObject<HTMLDivElement | null> {
  const box = useRef<HTMLDivElement>(null);
  const shown = useRef(chosen);
  useLayoutEffect(() => {
    if (shown.current === chosen) return;
    shown.current = chosen;
    box.current?.scrollIntoView({ block: 'start' });
    box.current?.querySelector<HTMLElement>('[data-autofocus]')?.focus({ preventScroll: true });
  }, [chosen]);
  return box;
}

/** As a draft for users who may create drafts. Throws an ApiFailure if the API server does not say. */
function useCreateFromTemplate(): typeof createWorkflow {
  const client = useQueryClient();
  return async (namespace, workflow, by) => {
    const right = rightQuery({ verb: 'create', resource: DRAFTS, namespace });
    const mayDraft = await client.fetchQuery(right);
    return (mayDraft ? createWithDraft : createWorkflow)(namespace, workflow, by);
  };
}

/** The icon of a button is in line with the fields. */
const LEFT = { alignSelf: 'flex-start', marginInlineStart: -9 } as const;

/** In a dialog the buttons stay in view. */
const footerOf = (onCancel: FormProps['onCancel']) => (onCancel === undefined ? '' : (tall['footer'] ?? ''));

type OwnProps = FormProps & { template: Template; onBack: () => void };

function TemplateForm(props: OwnProps) {
  const { template, onBack, project, taken, credentials, mayCreate, onCancel } = props;
  const { spec, needs, text } = template;
  const create = useCreate(project, useCreateFromTemplate());
  const { created } = create;
  const names = useNames(taken, { displayName: spec.displayName, created });
  const [isTried, setTried] = useState(false);
  const [chosen, setChosen] = useState(() => foundCredentials(needs, credentials));
  const completions = useMemo(() => completionsOf(spec), [spec]);
  const [answers, setAnswers] = useState<ReadonlyMap<string, string>>(new Map());
  const labels = needLabels(needs);
  const missing = needs.flatMap(({ name }) => (chosen.has(name) ? [] : [labels.get(name) ?? name]));
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    setTried(true);
    if (names.problem !== undefined) return;
    const { displayName, name } = names;
    const title = displayName.trim() === '' ? {} : { displayName: displayName.trim() };
    create.mutate({ name, spec: { ...completed(withCredentials(spec, chosen), answers), ...title } });
  };
  const choose = (name: string, credential: string | undefined): void => {
    const next = new Map(chosen);
    if (credential === undefined) next.delete(name);
    else next.set(name, credential);
    setChosen(next);
  };
  return (
    <form onSubmit={submit} noValidate style={{ maxWidth: 760 }}>
      <Stack>
        <Button
          variant="subtle"
          leftSection={<IconArrowLeft size={14} />}
          onClick={onBack}
          style={LEFT}
          data-autofocus
        >
          All templates
        </Button>
        <Title order={2} size="h4">
          {spec.displayName}
        </Title>
        <TemplateDrawing template={template} isLarge />
        <Text size="sm">{text}</Text>
        {needs.map((need) => (
          <NeedSelect
            key={need.name}
            project={project}
            need={need}
            label={labels.get(need.name) ?? need.name}
            credentials={credentials}
            value={chosen.get(need.name)}
            onChange={(credential) => choose(need.name, credential)}
          />
        ))}
        {missing.length > 0 && (
          <Text size="xs" c="dimmed">
            Not chosen yet: {missing.map((label) => `"${label}"`).join(', ')}. You can create the workflow
            now, and choose {missing.length === 1 ? 'it' : 'them'} in the editor.
          </Text>
        )}
        <CompletionFields
          completions={completions}
          answers={answers}
          onAnswer={(value, answer) => setAnswers(new Map(answers).set(value, answer))}
        />
        {mayCreate && <NameFields names={names} showsProblem={isTried} />}
        {create.error !== null && <FailureNote error={create.error} />}
        {mayCreate ? (
          <CreateButtons onCancel={onCancel} isPending={create.isPending} className={footerOf(onCancel)} />
        ) : (
          <Text size="sm" c="dimmed">
            You may not create workflows in this project.
          </Text>
        )}
      </Stack>
    </form>
  );
}
