import { canonicalJson } from '../../kernel/json/canonical.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'

export interface Components {
  /** Moves parts with a title to the components and replaces them with references. */
  readonly named: (schema: JsonObject) => JsonObject
  /** The schemas collected so far, by name. */
  readonly schemas: () => JsonObject
}

/** Collects named schemas. A different schema with the same name gets a numbered name. */
export const collectComponents = (): Components => {
  const schemas = new Map<string, JsonObject>()

  const nameOf = (title: string, schema: JsonObject, number = 1): string => {
    const name = title.replaceAll(/[^\w.-]/g, '_') + (number === 1 ? '' : `_${number}`)
    const known = schemas.get(name)
    if (known !== undefined && canonicalJson(known) !== canonicalJson(schema))
      return nameOf(title, schema, number + 1)
    schemas.set(name, schema)
    return name
  }

  const within = (value: Json): Json => {
    if (Array.isArray(value)) return value.map((item) => within(item as Json))
    return isJsonObject(value) ? named(value) : value
  }

  const named = (schema: JsonObject): JsonObject => {
    const { title, ...rest } = schema
    const inner = Object.fromEntries<Json>(Object.entries(rest).map(([key, value]) => [key, within(value)]))
    if (typeof title !== 'string') return title === undefined ? inner : { ...inner, title: within(title) }
    return { $ref: `#/components/schemas/${nameOf(title, inner)}` }
  }

  return { named, schemas: () => Object.fromEntries([...schemas].sort(([a], [b]) => (a < b ? -1 : 1))) }
}
