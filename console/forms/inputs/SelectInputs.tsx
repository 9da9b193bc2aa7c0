/** The name of a model, with those that the credential beside it offers. */
import { Autocomplete } from '@mantine/core';
import { useObject } from '../../kube/hooks.ts';
import { CREDENTIALS } from '../../kube/resources.ts';
import { useFormScope, useSiblings } from '../scope.ts';
import { wrapperOf } from './PlainInputs.tsx';
import type { InputProps } from '../props.ts';

export function ModelInput(props: InputProps<'model'>) {
  const { value, onChange, error, isReadOnly } = props;
  const { namespace } = useFormScope();
  const { credential } = useSiblings();
  const name = typeof credential === 'string' ? credential : '';
  const { data } = useObject(CREDENTIALS, namespace, name, { enabled: name !== '' });
  const models = data?.status?.models ?? [];
  return (
    <Autocomplete
      size="xs"
      {...wrapperOf(props)}
      data={[...models].toSorted()}
      value={typeof value === 'string' ? value : ''}
      onChange={onChange}
      placeholder={models.length > 0 ? 'Choose or enter a model' : 'for example gpt-4o-mini'}
      error={error}
      readOnly={isReadOnly}
      spellCheck={false}
    />
  );
}
