import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'

const MAX_DEPTH = 8
/** The package `wandb` adds its own facts of the machine and the package under this name. */
const CLIENTS_OWN = '_wandb'

/**
 * The values of a configuration or a summary by their paths, such as `optimizer.lr`. Lists are values. The package `wandb`
 * has each value of a configuration under `value`.
 */
export const leavesOf = (of: JsonObject): ReadonlyMap<string, Json> => {
  const leaves = new Map<string, Json>()
  for (const [name, value] of Object.entries(of))
    if (name !== CLIENTS_OWN) add(leaves, name, unwrapped(value), 1)
  return leaves
}

const add = (leaves: Map<string, Json>, path: string, value: Json, depth: number): void => {
  if (!isJsonObject(value) || depth === MAX_DEPTH) leaves.set(path, value)
  else for (const [name, member] of Object.entries(value)) add(leaves, `${path}.${name}`, member, depth + 1)
}

const unwrapped = (value: Json): Json =>
  isJsonObject(value) && Object.hasOwn(value, 'value') && Object.keys(value).every(isOfClient)
    ? value['value']!
    : value

const isOfClient = (name: string): boolean => name === 'value' || name === 'desc'
