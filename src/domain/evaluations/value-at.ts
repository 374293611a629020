import { isJsonObject, type Json } from '../../kernel/json/json.js'

/** The value at a path of keys and indexes; undefined where it leads nowhere. */
export const valueAt = (value: Json, path: readonly string[]): Json | undefined => {
  let reached: Json | undefined = value
  for (const part of path) {
    if (isList(reached)) reached = /^\d{1,15}$/.test(part) ? reached[Number(part)] : undefined
    else reached = isJsonObject(reached) && Object.hasOwn(reached, part) ? reached[part] : undefined
    if (reached === undefined) return undefined
  }
  return reached
}

const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value)
