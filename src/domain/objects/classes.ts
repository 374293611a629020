import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'

export interface ObjectClasses {
  readonly base_object_class: string | null
  readonly leaf_object_class: string | null
}

const NO_CLASSES: ObjectClasses = { base_object_class: null, leaf_object_class: null }

/**
 * The classes of a serialised object whose bases end in `Object` or `BaseObject` and `BaseModel`: its own, and the last
 * base before these two, else its own.
 */
export const classesOf = (val: Json): ObjectClasses => {
  if (!isJsonObject(val)) return NO_CLASSES
  const own = ownClassOf(val)
  const bases = Array.isArray(val['_bases']) ? (val['_bases'] as readonly Json[]) : []
  const root = bases.at(-2)
  if (own === null || bases.at(-1) !== 'BaseModel' || (root !== 'Object' && root !== 'BaseObject'))
    return NO_CLASSES
  return { base_object_class: bases.length === 2 ? own : textOrNull(bases.at(-3)), leaf_object_class: own }
}

/** Events of earlier releases have the base class `BaseObject` for all classes that derive from it. */
export const baseClassIn = ({ base_object_class, leaf_object_class }: ObjectClasses): string | null =>
  base_object_class === 'BaseObject' ? leaf_object_class : base_object_class

export const kindOf = (val: Json): 'op' | 'object' => {
  if (!isJsonObject(val)) return 'object'
  const weaveType = isJsonObject(val['weave_type']) ? val['weave_type']['type'] : undefined
  return weaveType === 'Op' || val['_type'] === 'Op' ? 'op' : 'object'
}

export const ownClassOf = (val: JsonObject): string | null => textOrNull(val['_class_name'])

const textOrNull = (value: Json | undefined): string | null =>
  typeof value === 'string' && value !== '' ? value : null
