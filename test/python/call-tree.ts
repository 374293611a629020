import type { Json, JsonObject } from '../../src/kernel/json/json.js'
import { opOf, type Call } from '../e2e/sdk-service.js'

/** A call with the calls below it. `failed` is the type and message of its exception. */
export interface CallTree {
  readonly op: string
  readonly inputs?: JsonObject
  readonly output?: Json
  readonly failed?: string
  readonly below?: readonly CallTree[]
}

/** The calls as trees, without what is absent or empty. Siblings are in the order of their JSON text. */
export const treesOf = (calls: readonly Call[], parent: string | null = null): readonly CallTree[] =>
  inOrder(
    calls
      .filter(({ parent_id }) => parent_id === parent)
      .map((call) => {
        const below = treesOf(calls, call.id)
        return {
          op: opOf(call),
          inputs: call.inputs,
          ...(call.output === null ? {} : { output: call.output }),
          ...(call.exception === null ? {} : { failed: failureOf(call.exception) }),
          ...(below.length === 0 ? {} : { below }),
        }
      }),
  )

/** Trees in the order of `treesOf`. */
export const inOrder = (trees: readonly CallTree[]): readonly CallTree[] =>
  trees
    .map((tree) => (tree.below === undefined ? tree : { ...tree, below: inOrder(tree.below) }))
    .map((tree) => [JSON.stringify(tree), tree] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([, tree]) => tree)

/** `ValueError: no` of an exception as the Python package writes it, with its traceback. */
const failureOf = (exception: string): string => {
  const { type, message } = JSON.parse(exception) as { type: string; message: string }
  return `${type}: ${message}`
}
