/** What every node can have beside its parameters: retries, a time limit, what its failure means, whether its output is sensitive. */
import type { WorkflowNode } from '../../../api/workflow.ts';
import { SchemaForm } from '../../forms/inputs/SchemaForm.tsx';
import { FormContext, useFormScope } from '../../forms/scope.ts';
import type { Values } from '../../forms/values.ts';
import { isTrigger } from '../../workflows/kinds.ts';
import { OPTION_NAMES, optionFields } from './nodeFields.ts';
import type { Change } from './ParametersTab.tsx';

export function OptionsTab({ node, change }: { node: WorkflowNode; change: Change }) {
  const scope = useFormScope();
  const given = node as Values;
  const values = Object.fromEntries(
    OPTION_NAMES.filter((name) => given[name] !== undefined).map((name) => [name, given[name]]),
  );
  const set = (next: Values) =>
    change((old) => {
      const rest = Object.fromEntries(Object.entries(old).filter(([name]) => !OPTION_NAMES.includes(name)));
      return { ...rest, ...next } as WorkflowNode;
    }, 'options');
  // The list that forEach names cannot be named by its own elements.
  return (
    <FormContext value={{ ...scope, sources: { nodes: scope.sources.nodes } }}>
      <SchemaForm
        isFlat
        fields={optionFields(node, !isTrigger(node))}
        path=""
        values={values}
        onChange={set}
      />
    </FormContext>
  );
}
