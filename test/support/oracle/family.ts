import type { Started } from './started.js'

/** Who descends from whom among the given calls: by parent id, and only within one trace. */
export class Family {
  private readonly byId: ReadonlyMap<string, Started>
  private readonly byParent = new Map<string, Array<Started>>()

  constructor(calls: ReadonlyArray<Started>) {
    this.byId = new Map(calls.map((call) => [call.id, call]))
    for (const call of calls) {
      const parent = this.parentOf(call)
      if (parent === undefined) continue
      const siblings = this.byParent.get(parent.id)
      if (siblings === undefined) this.byParent.set(parent.id, [call])
      else siblings.push(call)
    }
  }

  parentOf(call: Started): Started | undefined {
    const parent = call.parentId === null ? undefined : this.byId.get(call.parentId)
    return parent?.traceId === call.traceId ? parent : undefined
  }

  childrenOf(call: Started): ReadonlyArray<Started> {
    return this.byParent.get(call.id) ?? []
  }

  /** The call and all below it, each once, also where parents run in a circle. */
  withDescendants(call: Started): ReadonlyArray<Started> {
    const found = new Set<Started>()
    const collect = (member: Started): void => {
      if (found.has(member)) return
      found.add(member)
      for (const child of this.childrenOf(member)) collect(child)
    }
    collect(call)
    return [...found]
  }

  descendsFrom(call: Started, ancestor: Started): boolean {
    return this.withDescendants(ancestor).includes(call)
  }
}
