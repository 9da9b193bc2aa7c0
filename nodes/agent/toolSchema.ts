/** JSON Schemas of the parameters of tools, as the model sees them. */
import { isRecord } from '../../api/record.ts';

type JsonSchema = Readonly<Record<string, unknown>>;

/** The properties of the JSON Schema of an object. */
export function propertiesOf({ properties }: JsonSchema): Record<string, unknown> {
  return isRecord(properties) ? properties : {};
}

/**
 * The schema of an object with only the properties that the model may set, and with the descriptions of the
 * author, by the name of the property.
 */
export function restricted(
  schema: JsonSchema,
  maySet: (name: string) => boolean,
  descriptions: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const properties = Object.entries(propertiesOf(schema)).filter(([name]) => maySet(name));
  const required = (Array.isArray(schema['required']) ? schema['required'] : []).filter(maySet);
  return {
    type: 'object',
    properties: Object.fromEntries(
      properties.map(([name, property]) => [
        name,
        described(property, Object.hasOwn(descriptions, name) ? descriptions[name] : undefined),
      ]),
    ),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

function described(property: unknown, description: string | undefined): unknown {
  if (description === undefined) return property;
  return isRecord(property) ? { ...property, description } : { description };
}
