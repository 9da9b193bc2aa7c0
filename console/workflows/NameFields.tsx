/** The display name and ID of a new workflow. The ID follows the name until the user edits it. */
import { Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { freeName, LONGEST_DISPLAY_NAME, nameFor, nameProblem } from './names.ts';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { sessionQuery, userNameOf } from '../session/session.ts';
import { createWorkflow, type NewWorkflow } from './create.ts';

export type Names = {
  displayName: string;
  name: string;
  problem: string | undefined;
  setDisplayName: (displayName: string) => void;
  setName: (name: string) => void;
};

type Beginning = {
  displayName?: string;
  name?: string;
  /** The ID that is being created: taken as soon as the project has it, and what the form says until then. */
  created: string | undefined;
  /** Called with each display name that the user types. */
  onDisplayName?: (displayName: string) => void;
};

/** `taken`: the names of the project's workflows. */
export function useNames(taken: ReadonlySet<string>, beginning: Beginning): Names {
  const [displayName, setDisplayName] = useState(beginning.displayName ?? '');
  const [own, setOwn] = useState<string | undefined>(undefined);
  const following = beginning.name ?? nameFor(displayName);
  const name = beginning.created ?? own ?? (following === '' ? '' : freeName(following, taken));
  const problem = beginning.created === undefined ? nameProblem(name, taken) : undefined;
  const type = (typed: string): void => {
    setDisplayName(typed);
    beginning.onDisplayName?.(typed);
  };
  return { displayName, name, problem, setDisplayName: type, setName: setOwn };
}

/** The display name that was typed in a tab of the dialog for new workflows: other tabs begin with it. */
export type TypedName = { typedName: string; onTypedName: (displayName: string) => void };

type Props = { names: Names; placeholder?: string; showsProblem: boolean };

export function NameFields({ names, placeholder, showsProblem }: Props) {
  const { displayName, name, problem, setDisplayName, setName } = names;
  // Without both, the name is what is missing: the ID follows it.
  const isNameless = name === '' && displayName.trim() === '';
  return (
    <Stack gap="xs">
      <TextInput
        label="Name"
        placeholder={placeholder}
        data-autofocus
        maxLength={LONGEST_DISPLAY_NAME}
        value={displayName}
        onChange={(event) => setDisplayName(event.currentTarget.value)}
        error={isNameless && showsProblem ? problem : undefined}
      />
      <TextInput
        label="ID"
        description="Lowercase letters, digits and hyphens. It is part of URLs and cannot be changed later."
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={problem !== undefined && !isNameless && (showsProblem || name !== '') ? problem : undefined}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        spellCheck={false}
        autoComplete="off"
      />
    </Stack>
  );
}

/**
 * Creates a workflow, and opens it in the editor. `created`: its ID, from then on unless it fails.
 */
export function useCreate(project: string, create = createWorkflow) {
  const navigate = useNavigate();
  const { data: session } = useQuery(sessionQuery);
  const creation = useMutation({
    mutationFn: (workflow: NewWorkflow) => create(project, workflow, userNameOf(session)),
    onSuccess: ({ metadata }) =>
      navigate({ to: '/p/$project/workflows/$workflow', params: { project, workflow: metadata.name } }),
  });
  return { ...creation, created: creation.isError ? undefined : creation.variables?.name };
}
