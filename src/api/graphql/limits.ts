import { GraphQLError, Kind, parse, validate, type DocumentNode, type SelectionSetNode } from 'graphql'
import { schema } from './schema.js'

const MAX_TOKENS = 1000
const MAX_DEPTH = 20
const MAX_ERRORS = 10

/** Parses and validates a query, including its depth and size, or returns the errors. */
export const readDocument = (query: string): DocumentNode | readonly GraphQLError[] => {
  try {
    const document = parse(query, { maxTokens: MAX_TOKENS })
    const errors = validate(schema, document, undefined, { maxErrors: MAX_ERRORS })
    if (errors.length > 0) return errors
    return depthOf(document) > MAX_DEPTH
      ? [new GraphQLError(`The query exceeds the nesting limit of ${MAX_DEPTH} levels.`)]
      : document
  } catch (error) {
    if (error instanceof GraphQLError) return [error]
    throw error
  }
}

/**
 * The depth of a query, with fragments expanded where they are used. Validation has already excluded cyclic fragments.
 */
const depthOf = ({ definitions }: DocumentNode): number => {
  const known = new Map<string, number>()
  const below = ({ selections }: SelectionSetNode): number =>
    Math.max(
      ...selections.map((selection) => {
        if (selection.kind === Kind.FRAGMENT_SPREAD) return ofFragment(selection.name.value)
        const inner = selection.selectionSet === undefined ? 0 : below(selection.selectionSet)
        return selection.kind === Kind.FIELD ? inner + 1 : inner
      }),
    )
  const ofFragment = (name: string): number => {
    const found = known.get(name)
    if (found !== undefined) return found
    const fragment = definitions.find(
      (one) => one.kind === Kind.FRAGMENT_DEFINITION && one.name.value === name,
    )
    const depth = fragment !== undefined && 'selectionSet' in fragment ? below(fragment.selectionSet) : 0
    known.set(name, depth)
    return depth
  }
  return Math.max(...definitions.map((one) => ('selectionSet' in one ? below(one.selectionSet) : 0)))
}
