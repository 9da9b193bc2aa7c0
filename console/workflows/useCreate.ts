/** Creates a workflow and opens it in the editor. */
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { createWorkflow, type NewWorkflow } from './create.ts';

export function useCreate(project: string) {
  const navigate = useNavigate();
  return useMutation({
    mutationFn: (workflow: NewWorkflow) => createWorkflow(project, workflow),
    onSuccess: ({ metadata }) =>
      navigate({ to: '/p/$project/workflows/$workflow', params: { project, workflow: metadata.name } }),
  });
}
