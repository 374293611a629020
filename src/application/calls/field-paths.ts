import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'

export interface FieldPath {
  /** Dotted, such as `inputs.question`. */
  readonly path: string
  readonly type: 'text' | 'number' | 'boolean' | 'list'
  readonly example: string
}

const MAX_LEVELS = 5
const MAX_PATHS = 2000
const EXAMPLE_CHARACTERS = 60

/** The paths of the values in some calls' payload, in order of how many calls have them. Keys with dots are left out. */
export const fieldPaths = (calls: readonly JsonObject[]): readonly FieldPath[] => {
  const found = new Map<string, FieldPath & { count: number }>()
  const add = (path: string, value: Json, levels: number) => {
    if (value === null) return
    if (isJsonObject(value)) {
      if (levels < MAX_LEVELS)
        for (const [key, member] of Object.entries(value))
          if (/^[^.[\]]+$/.test(key)) add(`${path}.${key}`, member, levels + 1)
      return
    }
    const field = found.get(path)
    if (field !== undefined) field.count += 1
    else if (found.size < MAX_PATHS) found.set(path, { path, count: 1, ...described(value) })
  }
  for (const call of calls) for (const [root, value] of Object.entries(call)) add(root, value, 0)
  return [...found.values()]
    .sort((a, b) => b.count - a.count || (a.path < b.path ? -1 : 1))
    .map(({ count: _, ...field }) => field)
}

const described = (value: Json): Pick<FieldPath, 'type' | 'example'> => {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const example = text.slice(0, EXAMPLE_CHARACTERS)
  if (Array.isArray(value)) return { type: 'list', example }
  if (typeof value === 'number') return { type: 'number', example }
  return { type: typeof value === 'boolean' ? 'boolean' : 'text', example }
}
