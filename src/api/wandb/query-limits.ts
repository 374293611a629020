import {
  getNamedType,
  GraphQLError,
  isInterfaceType,
  isObjectType,
  Kind,
  valueFromASTUntyped,
  type DocumentNode,
  type FieldNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  type SelectionSetNode,
} from 'graphql'
import type { JsonObject } from '../../kernel/json/json.js'
import { MAX_PAGE } from './caller.js'

const MAX_NESTED_READS = 1000
/** Fields within fragments may be many more than those of the document. */
const MAX_FIELDS = 10_000
/** Of a list whose page size the query does not give. */
const USUAL_PAGE = 50
const HISTORIES: ReadonlySet<string> = new Set(['history', 'sampledHistory', 'events'])

/**
 * Refuses a query before its first read. A list or a history within lists is read as often as the pages around it have
 * items, which their sizes bound.
 *
 * @throws GraphQLError
 */
export const checkReads = (schema: GraphQLSchema, document: DocumentNode, given: JsonObject): void => {
  const { definitions } = document
  const fragments = new Map(
    definitions.flatMap((one) =>
      one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one] as const] : [],
    ),
  )
  let [fields, reads] = [0, 0]

  const check = (
    type: GraphQLNamedType | undefined,
    { selections }: SelectionSetNode,
    times: number,
    path: readonly string[],
    variables: JsonObject,
    spread = new Set<string>(),
  ): void => {
    for (const node of selections) {
      fields += 1
      if (fields > MAX_FIELDS)
        throw new GraphQLError(
          `${path.join('.')}: a request may select at most ${MAX_FIELDS} fields, those of fragments each time. ` +
            'Ask in several requests.',
        )
      if (node.kind !== Kind.FIELD) {
        // A fragment counts once for each object, as it is executed.
        const name = node.kind === Kind.FRAGMENT_SPREAD ? node.name.value : ''
        const fragment = node.kind === Kind.INLINE_FRAGMENT ? node : fragments.get(name)!
        if (name === '' || !spread.has(name))
          check(
            schema.getType(fragment.typeCondition?.name.value ?? '') ?? type,
            fragment.selectionSet,
            times,
            path,
            variables,
            spread.add(name),
          )
        continue
      }
      const name = node.name.value
      const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : undefined
      if (field === undefined) continue
      const here = [...path, name]
      const fieldType = getNamedType(field.type)
      const isList = fieldType.name.endsWith('Connection')
      if (times > 1 && (isList || HISTORIES.has(name))) reads += times
      if (reads > MAX_NESTED_READS)
        throw new GraphQLError(
          `${here.join('.')}: lists and histories within lists would be read up to ${reads} times, and a request may read at ` +
            `most ${MAX_NESTED_READS}. Ask for smaller pages (first), fewer levels, or in several requests.`,
          { nodes: node },
        )
      const within = isList ? times * pageSizeOf(node, variables) : times
      if (node.selectionSet !== undefined) check(fieldType, node.selectionSet, within, here, variables)
    }
  }

  for (const node of definitions) {
    if (node.kind !== Kind.OPERATION_DEFINITION) continue
    const defaults = (node.variableDefinitions ?? []).map(({ variable, defaultValue }) => [
      variable.name.value,
      defaultValue && valueFromASTUntyped(defaultValue),
    ])
    const variables = { ...Object.fromEntries(defaults), ...given } as JsonObject
    check(schema.getRootType(node.operation) ?? undefined, node.selectionSet, 1, [], variables)
  }
}

const pageSizeOf = ({ arguments: given = [] }: FieldNode, variables: JsonObject): number => {
  const first = given.find(({ name }) => name.value === 'first')
  const size: unknown = first && valueFromASTUntyped(first.value, variables)
  return typeof size === 'number' ? Math.min(MAX_PAGE, Math.max(0, size)) : USUAL_PAGE
}
