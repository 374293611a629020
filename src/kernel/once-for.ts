/** Computes a value once for each object, as long as the object is in use. */
export const onceFor = <Key extends object, Value>(compute: (key: Key) => Value): ((key: Key) => Value) => {
  const known = new WeakMap<Key, { readonly value: Value }>()
  return (key) => {
    const kept = known.get(key) ?? { value: compute(key) }
    known.set(key, kept)
    return kept.value
  }
}
