import {
  getNullableType,
  isInputObjectType,
  isListType,
  Kind,
  typeFromAST,
  type DocumentNode,
  type GraphQLInputType,
  type GraphQLSchema,
} from 'graphql'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'

/**
 * Variables without the fields that the schema does not know and that are null. Clients send every field of their newest
 * version; a field that says something is refused where it is unknown.
 */
export const withoutUnknownNulls = (
  schema: GraphQLSchema,
  document: DocumentNode,
  variables: JsonObject,
): JsonObject => {
  const known = new Map<string, GraphQLInputType>()
  for (const definition of document.definitions)
    if (definition.kind === Kind.OPERATION_DEFINITION)
      for (const { variable, type } of definition.variableDefinitions ?? []) {
        const named = typeFromAST(schema, type as never) as GraphQLInputType | undefined
        if (named !== undefined) known.set(variable.name.value, named)
      }
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => {
      const type = known.get(name)
      return [name, type === undefined ? value : stripped(type, value)]
    }),
  )
}

const stripped = (given: GraphQLInputType, value: Json): Json => {
  const type = getNullableType(given)
  if (isListType(type) && Array.isArray(value))
    return value.map((item) => stripped(type.ofType, item as Json))
  if (!isInputObjectType(type) || !isJsonObject(value)) return value
  const fields = type.getFields()
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, member]) => member !== null || Object.hasOwn(fields, name))
      .map(([name, member]) => {
        const field = Object.hasOwn(fields, name) ? fields[name] : undefined
        return [name, field === undefined ? member : stripped(field.type, member)]
      }),
  )
}
