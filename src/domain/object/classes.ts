import { isJsonObject, type Json } from '../json/json.js'

export interface ObjectClasses {
  readonly kind: 'op' | 'object'
  readonly base_object_class: string | null
  readonly leaf_object_class: string | null
}

const ROOTS = new Set(['Object', 'BaseModel'])

/** What an object says of its class (facts: tracing API 6.4): the last base before the root classes, else its own. */
export const classesOf = (val: Json): ObjectClasses => {
  if (!isJsonObject(val)) return { kind: 'object', base_object_class: null, leaf_object_class: null }
  const own = typeof val['_class_name'] === 'string' ? val['_class_name'] : null
  const bases = Array.isArray(val['_bases']) ? (val['_bases'] as readonly Json[]) : []
  const root = bases.findIndex((base) => typeof base === 'string' && ROOTS.has(base))
  const base = root > 0 ? bases[root - 1] : own
  const weaveType = isJsonObject(val['weave_type']) ? val['weave_type']['type'] : undefined
  return {
    kind: weaveType === 'Op' || val['_type'] === 'Op' ? 'op' : 'object',
    base_object_class: typeof base === 'string' ? base : null,
    leaf_object_class: own,
  }
}
