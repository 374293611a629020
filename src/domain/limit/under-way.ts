/** Streams of calls. */
export type Members = Iterable<string> & { readonly size: number }

const NOBODY = new Set<string>()

/** The calls under way in each scope, whether or not it has a limit: one may be chosen while they last. */
export class UnderWay {
  private readonly byScope = new Map<string, Set<string>>()

  /** In the order in which they came. */
  of(scope: string): Members {
    return this.byScope.get(scope) ?? NOBODY
  }

  enter(scopes: readonly string[], call: string): void {
    for (const scope of scopes) {
      const calls = this.byScope.get(scope)
      if (calls === undefined) this.byScope.set(scope, new Set<string>().add(call))
      else calls.add(call)
    }
  }

  leave(scopes: readonly string[], call: string): void {
    for (const scope of scopes) {
      const calls = this.byScope.get(scope)
      calls?.delete(call)
      if (calls?.size === 0) this.byScope.delete(scope)
    }
  }
}
