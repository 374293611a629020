import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'

export interface ObjectClasses {
  readonly kind: 'op' | 'object'
  readonly base_object_class: string | null
  readonly leaf_object_class: string | null
}

const ROOTS = new Set(['Object', 'BaseModel'])

/**
 * An object's class and base class: the last base before the root classes, else the class itself. `given` replaces
 * the base, and the class if the object names none.
 */
export const classesOf = (val: Json, given: string | null = null): ObjectClasses => {
  if (!isJsonObject(val)) return { kind: 'object', base_object_class: given, leaf_object_class: given }
  const own = textOrNull(val['_class_name'])
  const weaveType = isJsonObject(val['weave_type']) ? val['weave_type']['type'] : undefined
  return {
    kind: weaveType === 'Op' || val['_type'] === 'Op' ? 'op' : 'object',
    base_object_class: given ?? baseOf(val) ?? own,
    leaf_object_class: own ?? given,
  }
}

const baseOf = (val: JsonObject): string | null => {
  const bases = Array.isArray(val['_bases']) ? (val['_bases'] as readonly Json[]) : []
  const root = bases.findIndex((base) => typeof base === 'string' && ROOTS.has(base))
  return root > 0 ? textOrNull(bases[root - 1]) : null
}

const textOrNull = (value: Json | undefined): string | null =>
  typeof value === 'string' && value !== '' ? value : null
