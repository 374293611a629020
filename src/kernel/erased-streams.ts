type Forget = (streams: ReadonlySet<string>) => void

const ofStores = new WeakMap<object, Set<Forget>>()

/** Calls `forget` after events of streams were erased: a state that was folded from them may still have their content. */
export const onErased = (store: object, forget: Forget): void => {
  const listeners = ofStores.get(store) ?? new Set()
  ofStores.set(store, listeners.add(forget))
}

export const announceErased = (store: object, streams: ReadonlySet<string>): void => {
  for (const forget of ofStores.get(store) ?? []) forget(streams)
}
